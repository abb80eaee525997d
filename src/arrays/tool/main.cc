// cairn-arrays: what `cairn arrays` becomes, so that only it loads libnetcdf and the codecs' libraries. The table of
// its verbs.
#include "arrays/tool/verbs.h"

namespace cairn::array_tool {
namespace {

constexpr cli::Verb kVerbs[] = {
    {.name = "run",
     .group = "Verbs",
     .help = "Run a command and compress what it writes through PnetCDF",
     .declare = declare_run,
     .usage = "cairn arrays run [OPTIONS] [--] COMMAND [ARGUMENTS]",
     .behind = cli::Behind::command,
     .runs = "there is no command to run; write it at the end, as in cairn arrays run -- mpiexec -n 4 ./app"},
    {.name = "read",
     .group = "Verbs",
     .help = "Run a command without MPI that reads compressed files as plain ones",
     .declare = declare_read,
     .usage = "cairn arrays read [OPTIONS] [--] COMMAND [ARGUMENTS]",
     .behind = cli::Behind::command,
     .runs = "there is no command to run; write it at the end, as in cairn arrays read -- ncdump out.nc"},
    {.name = "info", .group = "Verbs", .help = "Tell what a compressed file holds", .declare = declare_info},
    {.name = "verify",
     .group = "Verbs",
     .help = "Check that a compressed file is sound",
     .declare = declare_verify,
     .no = "a fault was found, or the file was not closed"},
    {.name = "recover",
     .group = "Verbs",
     .help = "Close a file whose job was killed, with all that it had written",
     .declare = declare_recover},
    {.name = "export",
     .group = "Verbs",
     .help = "Write a compressed file as a plain NetCDF file",
     .declare = declare_export},
    {.name = "import",
     .group = "Verbs",
     .help = "Compress an existing NetCDF file of the classic formats",
     .declare = declare_import},
    {.name = "compact",
     .group = "Verbs",
     .help = "Rewrite a compressed file without bytes that nobody needs",
     .declare = declare_compact},
    {.name = "bench", .group = "Verbs", .help = "Try every codec on the values of a file", .declare = declare_bench},
};

}  // namespace
}  // namespace cairn::array_tool

int main(int argc, char **argv) {
  return cairn::cli::run({.name = "cairn arrays",
                          .about = "Compresses what programs write through PnetCDF, and reads it back.",
                          .footer = "cairn arrays VERB --help tells a verb's options.",
                          .verbs = cairn::array_tool::kVerbs},
                         argc, argv);
}
