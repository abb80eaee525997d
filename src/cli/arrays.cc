// cairn arrays: becomes cairn-arrays, which has verbs of its own and reads all words itself.
#include "cli/verbs.h"
#include "terminal/child.h"
#include "terminal/installation.h"
#include "terminal/options.h"
#include "terminal/terminal.h"

namespace cairn::cli {

void add_arrays(CLI::App &app, Run &run, const Command &words) {
  Options verb(app, "arrays", "Compress what programs write through PnetCDF, and read it back");
  verb.chosen([&run, &words] {
    run = [&words] {
      const auto program = find_program("cairn-arrays");
      if (!program) return report(program.error());
      Command command = words;
      command.insert(command.begin(), *program);
      return report(execute(command));
    };
  });
}

}  // namespace cairn::cli
