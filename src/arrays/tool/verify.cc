// cairn arrays verify: reads and decodes every block of a compressed file and names each that does not fit.
#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "arrays/file/stored_file.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::array_tool {
namespace {

constexpr size_t kShown = 100;

struct VerifyOptions {
  std::string file;
  bool json = false;
};

struct Findings {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t undecoded = 0;  ///< of the program's own codecs, of which only the checksum was compared
  uint64_t fault_count = 0;
  std::vector<std::string> faults;  ///< the first of them

  void add(std::string fault) {
    if (++fault_count <= kShown) faults.push_back(std::move(fault));
  }
};

/// Values do not depend on the header at the front, but what other tools show does.
bool header_fits(const arrays::StoredFile &file) {
  if (file.index_place().moved != 0) return true;  // a tool has copied the file
  const Bytes expected = file.expected_header();
  Bytes found(expected.size());
  std::ifstream in(file.path(), std::ios::binary);
  in.read(reinterpret_cast<char *>(found.data()), static_cast<std::streamsize>(found.size()));
  return in && found == expected;
}

/// `changed`: what the header at the front says otherwise.
Findings check(const arrays::StoredFile &file, const std::vector<std::string> &changed) {
  Findings findings;
  // Until the file is closed it need not tell of the newest records.
  if (file.closed() && changed.empty() && !header_fits(file))
    findings.add("the header at the front is not the one that belongs to the index");
  for (size_t i = 0; i < file.index().blocks().size(); ++i) {
    const arrays::Block &block = file.index().blocks()[i];
    ++findings.blocks;
    findings.bytes += block.bytes();
    const bool ours = block.codec < codec::kFirstOfUsers;
    const Result<Bytes> bytes = ours ? file.values(i) : file.coded(i);
    if (!bytes) {
      findings.add(bytes.error().message);
    } else if (!ours && !file.intact(i, *bytes)) {
      findings.add(name_of(file.index(), file.header(), file.layout(), i) + ": its checksum is wrong");
    } else if (!ours) {
      ++findings.undecoded;
    }
  }
  return findings;
}

int verify(const VerifyOptions &options) {
  const auto file = arrays::StoredFile::open(options.file);
  if (!file) return cli::report(file.error());
  const std::vector<std::string> changed = file->changes_of_header();
  const Findings findings = check(*file, changed);
  const bool good = findings.fault_count == 0 && file->closed();
  const std::string unclosed =
      file->closed() ? ""
                     : fmt::format("{}: not closed: its job was killed or still writes; {} of {} are not in its index",
                                   options.file, cli::plural(file->unlisted().blocks, "block"),
                                   cli::bytes_text(file->unlisted().bytes));
  cli::Output out;
  if (options.json) {
    const nlohmann::ordered_json object{{"schema", "cairn.arrays.verify/1"},
                                        {"file", valid_utf8(options.file)},
                                        {"ok", good},
                                        {"closed", file->closed()},
                                        {"unlisted_blocks", file->unlisted().blocks},
                                        {"header_changes", cli::json_of(changed)},
                                        {"blocks", findings.blocks},
                                        {"bytes", findings.bytes},
                                        {"undecoded", findings.undecoded},
                                        {"fault_count", findings.fault_count},
                                        {"faults", cli::json_of(findings.faults)}};
    out.write(object.dump(2) + "\n");
  } else {
    for (const std::string &fault : findings.faults) out.write(fmt::format("{}: {}\n", options.file, fault));
    if (findings.fault_count > findings.faults.size()) {
      out.write(
          fmt::format("{}: and {} more\n", options.file, cli::grouped(findings.fault_count - findings.faults.size())));
    }
    if (!unclosed.empty()) out.write(unclosed + "; 'cairn arrays recover' closes it\n");
    say_changed(options.file, changed, &out);
    if (good) {
      out.write(fmt::format("{}: sound: {} of {} decoded\n", options.file,
                            cli::plural(findings.blocks - findings.undecoded, "block"),
                            cli::bytes_text(findings.bytes)));
    }
  }
  if (findings.undecoded != 0) {
    cli::say(fmt::format("{} of the program's own codecs: only their checksums were compared",
                         cli::plural(findings.undecoded, "block")));
  }
  const int written = out.finish();
  return good ? written : cli::kNegative;
}

}  // namespace

cli::Action declare_verify(cli::Options &verb) {
  auto options = std::make_shared<VerifyOptions>();
  verb.one("FILE", options->file, "The compressed file");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  return [options] { return verify(*options); };
}

}  // namespace cairn::array_tool
