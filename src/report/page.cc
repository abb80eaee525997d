#include "report/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "report/seven_bits.h"
#include "text/utf8.h"

namespace cairn::report {
namespace {

/// What the template names is put in from behind, so that nothing that is put in is looked at again.
void put(std::string *page, std::string_view name, std::string_view text) {
  const size_t at = page->rfind(name);
  assert(at != std::string::npos);
  page->replace(at, name.size(), text);
}

}  // namespace

Result<std::string> content_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file) return bytes;
  return tl::unexpected(Error{ErrorKind::environment, fmt::format("cannot read it: {}", std::strerror(errno)), path,
                              Error::kNoOffset, ""});
}

Result<Assets> read_assets(const std::string &folder) {
  Assets assets;
  for (const auto &[name, part] : {std::pair{"page.html", &assets.page}, std::pair{"page.js.gz", &assets.script},
                                   std::pair{"reader.wasm.gz", &assets.reader}}) {
    const std::string path = folder + "/" + name;
    *part = content_of(path).value_or("");
    if (!part->empty()) continue;
    return tl::unexpected(Error{ErrorKind::environment, "this part of the page that reports are made of is missing",
                                path, Error::kNoOffset,
                                "build cairn where npm and clang-19 are (scripts/setup report), or install it anew"});
  }
  return assets;
}

std::string page_of(const Assets &assets, const std::string &title, const std::vector<Block> &blocks,
                    std::string_view connect) {
  std::string elements;
  const auto add = [&](std::string_view id, std::string_view bytes) {
    elements += fmt::format("<script type=\"application/x-cairn\" id=\"{}\" data-bytes=\"{}\">", id, bytes.size());
    elements += seven_bits(bytes);
    elements += "</script>\n";
  };
  add("page", assets.script);
  add("reader", assets.reader);
  for (const Block &block : blocks) {
    if (block.address.empty()) {
      add(block.id, block.bytes);
    } else {
      elements += fmt::format(
          "<script type=\"application/x-cairn\" id=\"{}\" data-bytes=\"{}\" data-address=\"{}\"></script>\n", block.id,
          block.size, html(block.address));
    }
  }
  std::string page = assets.page;
  put(&page, "@BLOCKS@", elements);
  put(&page, "@TITLE@", html(valid_utf8(title)));
  put(&page, "@CONNECT@", connect);
  return page;
}

bool is_page(std::string_view beginning) {
  return beginning.starts_with("<!doctype html>") &&
         beginning.substr(0, 200).find("<meta name=\"generator\" content=\"cairn report\">") != std::string_view::npos;
}

std::string html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string gzip(std::string_view bytes) {
  z_stream stream = {};
  constexpr int kGzip = 16;
  [[maybe_unused]] int rc =
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 9, Z_DEFAULT_STRATEGY);
  assert(rc == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface is not const; it only reads.
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  rc = deflate(&stream, Z_FINISH);
  assert(rc == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace cairn::report
