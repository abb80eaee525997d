// cairn-serve: what `cairn serve` starts, so that only it loads an HTTP library. Shows the traces of a folder as pages,
// to who knows the address that it prints, on this machine alone, and never writes.
//
//   cairn-serve FOLDER PORT CAIRN ASSETS
//
// All addresses begin with a token that is made anew each time:
//   /TOKEN/                a list of the folder's traces
//   /TOKEN/view/NAME       the page; what it shows it asks for:
//   /TOKEN/facts/NAME      what the verbs say, compressed by gzip; made once for a file of that size and age
//   /TOKEN/trace/NAME      the trace, or the range of its bytes that is asked for
// All else, also a request that names another host (a page elsewhere that had its name resolved to this machine), is
// refused without a word on why.
#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "report/facts.h"
#include "report/page.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::report {
namespace {

namespace fs = std::filesystem;

std::string new_token() {
  uint8_t random[16];
  if (getrandom(random, sizeof random, 0) != sizeof random) std::abort();
  std::string token;
  for (const uint8_t byte : random) token += fmt::format("{:02x}", byte);
  return token;
}

/// As a part of an address.
std::string percent(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_') {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return encoded;
}

struct TraceFile {
  std::string name;
  uint64_t bytes = 0;
  int64_t changed = 0;  ///< for comparison only
  bool operator==(const TraceFile &) const = default;
  /// Another one for a file that was written anew.
  [[nodiscard]] std::string version() const { return fmt::format("{}-{}", bytes, changed); }
};

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// By name.
  [[nodiscard]] std::vector<TraceFile> traces() const {
    std::vector<TraceFile> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(path_, error)) {
      std::error_code ignored;
      if (entry.path().extension() != ".cairn" || !entry.is_regular_file(ignored)) continue;
      // A link that gives something else the name of a trace leads nowhere.
      if (entry.is_symlink(ignored) && fs::canonical(entry.path(), ignored).extension() != ".cairn") continue;
      const auto changed = entry.last_write_time(ignored).time_since_epoch().count();
      found.push_back({entry.path().filename().string(), entry.file_size(ignored), static_cast<int64_t>(changed)});
    }
    std::sort(found.begin(), found.end(), [](const TraceFile &a, const TraceFile &b) { return a.name < b.name; });
    return found;
  }
  /// One of these: no other name leads to a file.
  [[nodiscard]] std::optional<TraceFile> find(const std::string &name) const {
    for (TraceFile &file : traces()) {
      if (file.name == name) return std::move(file);
    }
    return {};
  }
  [[nodiscard]] std::string path_of(const TraceFile &file) const { return (fs::path(path_) / file.name).string(); }
  [[nodiscard]] const std::string &path() const { return path_; }

 private:
  std::string path_;
};

/// What the verbs say of each trace, asked once. Several requests for one at a time: one of them asks, the others wait.
class FactsKept {
 public:
  FactsKept(std::string cairn, const Folder *folder) : cairn_(std::move(cairn)), folder_(folder) {}
  std::string of(const TraceFile &file) {
    Kept &kept = kept_of(file.name);
    const std::scoped_lock lock(kept.lock);
    if (kept.known != file) {
      Asked asked;
      asked.executable = cairn_;
      asked.file = folder_->path_of(file);
      kept.packed = gzip(facts_of_page({asked}).dump());
      kept.known = file;
    }
    return kept.packed;
  }

 private:
  struct Kept {
    std::mutex lock;
    TraceFile known;  ///< what `packed` is of: none at first
    std::string packed;
  };
  Kept &kept_of(const std::string &name) {
    const std::scoped_lock lock(lock_);
    std::unique_ptr<Kept> &kept = kept_[name];
    if (kept == nullptr) kept = std::make_unique<Kept>();
    return *kept;
  }

  std::string cairn_;
  const Folder *folder_;
  std::mutex lock_;  ///< of the map alone
  std::map<std::string, std::unique_ptr<Kept>> kept_;
};

/// Of a file of that size, as RFC 9110 has it, which the library does not know: ends are cut to the file's. False: one
/// begins behind its end.
bool fit_ranges(httplib::Ranges *ranges, uint64_t size) {
  const auto all = static_cast<ssize_t>(size);
  for (auto &[first, last] : *ranges) {
    if (first == -1) {  // so many from the end
      if (last <= 0 || all == 0) return false;
      first = std::max<ssize_t>(0, all - last);
      last = all - 1;
    }
    if (first >= all) return false;
    if (last == -1 || last >= all) last = all - 1;
  }
  return true;
}

std::string list_of(const Folder &folder) {
  std::string rows;
  for (const TraceFile &file : folder.traces()) {
    rows += fmt::format("<tr><td><a href=\"view/{}\">{}</a></td><td>{}</td></tr>\n", percent(file.name),
                        html(valid_utf8(file.name)), cli::bytes_text(file.bytes));
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">"
      "<title>{0}</title><style>body{{font:15px system-ui,sans-serif;margin:2em}}td{{padding:.2em 1.5em .2em "
      "0}}</style>"
      "<h1>Traces in {0}</h1><table>{1}</table>{2}\n",
      html(valid_utf8(folder.path())), rows, rows.empty() ? "<p>There is none: no file here ends in .cairn.</p>" : "");
}

class Service {
 public:
  Service(Folder folder, std::string cairn, Assets assets)
      : folder_(std::move(folder)), facts_(std::move(cairn), &folder_), assets_(std::move(assets)) {}

  int run(int port) {
    server_.set_default_headers({{"Cache-Control", "no-store"},
                                 {"Referrer-Policy", "no-referrer"},
                                 {"X-Content-Type-Options", "nosniff"},
                                 {"X-Frame-Options", "DENY"}});
    // The library would share the port with whoever else asks for it.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    const bool bound =
        port == 0 ? (port = server_.bind_to_any_port("127.0.0.1")) > 0 : server_.bind_to_port("127.0.0.1", port);
    if (!bound) {
      return cli::report(Error{ErrorKind::environment, fmt::format("port {} of 127.0.0.1 cannot be had", port), "",
                               Error::kNoOffset, "name another with --port, or none"});
    }
    hosts_ = {fmt::format("127.0.0.1:{}", port), fmt::format("localhost:{}", port)};
    server_.set_pre_routing_handler([this](const httplib::Request &request, httplib::Response &response) {
      if (std::ranges::find(hosts_, request.get_header_value("Host")) != hosts_.end())
        return httplib::Server::HandlerResponse::Unhandled;
      response.status = 404;
      return httplib::Server::HandlerResponse::Handled;
    });
    const std::string root = "/" + token_ + "/";
    server_.Get(root, [this](const httplib::Request &, httplib::Response &response) {
      response.set_content(list_of(folder_), "text/html; charset=utf-8");
    });
    server_.Get(root + "view/([^/]+)", [this](const httplib::Request &request, httplib::Response &response) {
      with_trace(request, response, [&](const TraceFile &file) {
        const std::string name = percent(file.name);
        // Of that file and no later one: what the page knows of it would be wrong.
        const std::string address = "../trace/" + name + "?of=" + file.version();
        const std::vector<Block> blocks = {{.id = "facts", .bytes = {}, .address = "../facts/" + name},
                                           {.id = "trace0", .bytes = {}, .address = address, .size = file.bytes}};
        response.set_content(page_of(assets_, valid_utf8(file.name), blocks, "'self'"), "text/html; charset=utf-8");
      });
    });
    server_.Get(root + "facts/([^/]+)", [this](const httplib::Request &request, httplib::Response &response) {
      with_trace(request, response,
                 [&](const TraceFile &file) { response.set_content(facts_.of(file), "application/octet-stream"); });
    });
    server_.Get(root + "trace/([^/]+)", [this](const httplib::Request &request, httplib::Response &response) {
      with_trace(request, response, [&](const TraceFile &file) {
        if (request.has_param("of") && request.get_param_value("of") != file.version()) {
          response.status = 410;
          return;
        }
        // The library asks for the ranges that the request names, and takes them from there.
        httplib::Ranges &ranges = const_cast<httplib::Request &>(request).ranges;
        if (!fit_ranges(&ranges, file.bytes)) {
          ranges.clear();
          response.status = 416;
          response.set_header("Content-Range", fmt::format("bytes */{}", file.bytes));
          return;
        }
        if (file.bytes == 0) {
          response.set_content("", "application/octet-stream");
          return;
        }
        response.set_content_provider(
            file.bytes, "application/octet-stream",
            [path = folder_.path_of(file)](size_t offset, size_t length, httplib::DataSink &sink) {
              constexpr size_t kMost = size_t{1} << 20;
              std::string bytes(std::min(length, kMost), '\0');
              std::ifstream in(path, std::ios::binary);
              in.seekg(static_cast<std::streamoff>(offset));
              in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
              return in && sink.write(bytes.data(), bytes.size());
            });
      });
    });
    fmt::print("http://127.0.0.1:{}{}\n", port, root);
    std::fflush(stdout);
    return server_.listen_after_bind() ? cli::kFine : cli::kEnvironment;
  }

 private:
  template <typename F>
  void with_trace(const httplib::Request &request, httplib::Response &response, const F &answer) const {
    if (const auto file = folder_.find(request.matches[1].str())) {
      answer(*file);
    } else {
      response.status = 404;
    }
  }

  Folder folder_;
  FactsKept facts_;
  Assets assets_;
  std::string token_ = new_token();
  std::vector<std::string> hosts_;
  httplib::Server server_;
};

}  // namespace
}  // namespace cairn::report

int main(int argc, char **argv) {
  using namespace cairn;
  if (argc != 5) return cli::refuse("cairn-serve is started by cairn serve", "run cairn serve FOLDER");
  auto assets = report::read_assets(argv[4]);
  if (!assets) return cli::report(assets.error());
  return report::Service(report::Folder(argv[1]), argv[3], *std::move(assets)).run(std::atoi(argv[2]));
}
