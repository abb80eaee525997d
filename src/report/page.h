// Page: one HTML file that shows a run and loads nothing. It is made of a template and a script, which the build made
// from page/ (an installation has them in share/cairn/report), and of blocks of bytes: what the verbs say of the run,
// the reader as WebAssembly, the traces.
//
// Nothing of a trace becomes HTML here but the title, which is escaped; the rest is text that seven_bits.h makes.
// Plain values and functions. Cost: the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::report {

struct Assets {
  std::string page;    ///< the template
  std::string script;  ///< compressed by gzip
  std::string reader;  ///< WebAssembly, compressed by gzip
};
/// All bytes of a file; an environment error if it cannot be read.
Result<std::string> content_of(const std::string &path);
/// From an installation's folder of them; an environment error if one cannot be read.
Result<Assets> read_assets(const std::string &folder);

struct Block {
  std::string id;            ///< as the page asks for it: letters and digits
  std::string bytes;         ///< compressed or not, as the page expects it
  std::string address = {};  ///< where the page fetches it instead; "" if it has the bytes
  uint64_t size = 0;         ///< of what is fetched, where that is known
};

/// `connect`: where the page may load from, as its content security policy says it; "'none'" for a page by itself.
std::string page_of(const Assets &assets, const std::string &title, const std::vector<Block> &blocks,
                    std::string_view connect = "'none'");

/// Whether the text begins as a page that was made here, so that it may be replaced by another.
bool is_page(std::string_view beginning);

std::string html(std::string_view text);  ///< with `&`, `<`, `>` and quotes escaped
std::string gzip(std::string_view bytes);

}  // namespace cairn::report
