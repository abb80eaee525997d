#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "export/tables.h"
#include "files/partial.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

/// What is often asked.
constexpr const char *kViews = R"(
CREATE VIEW timed_calls AS
  SELECT calls.*, end_ns - begin_ns AS ns, sites.function AS function FROM calls JOIN sites USING (site);
CREATE VIEW time_by_function AS
  SELECT function, count(*) AS calls, sum(ns) AS ns, max(ns) AS longest_ns, count(DISTINCT rank) AS ranks
  FROM timed_calls WHERE depth = 0 GROUP BY function ORDER BY sum(ns) DESC, calls DESC;
CREATE VIEW time_by_site AS
  SELECT site, function, file, line, within, count(*) AS calls, sum(end_ns - begin_ns) AS ns,
         max(end_ns - begin_ns) AS longest_ns, count(DISTINCT rank) AS ranks
  FROM calls JOIN sites USING (site) GROUP BY site ORDER BY sum(end_ns - begin_ns) DESC, calls DESC;
CREATE VIEW time_by_rank AS
  SELECT rank, count(*) AS calls, sum(ns) AS ns FROM timed_calls WHERE depth = 0 GROUP BY rank;
CREATE VIEW time_by_kernel AS
  SELECT kernel, count(*) AS launches, sum(end_ns - begin_ns) AS ns, max(end_ns - begin_ns) AS longest_ns,
         sum(begin_ns - made_ns) AS queued_ns, count(DISTINCT rank) AS ranks
  FROM kernels GROUP BY kernel ORDER BY sum(end_ns - begin_ns) DESC, launches DESC;
CREATE VIEW matrix AS
  SELECT sender, receiver, count(*) AS messages, sum(bytes) AS bytes FROM messages
  GROUP BY sender, receiver ORDER BY sender, receiver;
CREATE VIEW request_times AS
  SELECT q.*, p.site AS posted_site, c.site AS completed_site, p.begin_ns AS posted_ns, c.end_ns AS completed_ns,
         max(0, c.begin_ns - p.end_ns) AS overlapped_ns, c.end_ns - max(c.begin_ns, p.end_ns) AS waited_ns
  FROM requests AS q JOIN calls AS p ON p.rank = q.rank AND p.call = q.posted_call
                     JOIN calls AS c ON c.rank = q.rank AND c.call = q.completed_call;
CREATE VIEW waiting AS
  SELECT m.*, r.begin_ns AS receive_begin_ns, max(0, m.sent_ns - r.begin_ns) AS late_sender_ns
  FROM messages AS m JOIN calls AS r ON r.rank = m.receiver AND r.call = m.receive_call;
)";

class SqliteWriter : public TableWriter {
 public:
  SqliteWriter(std::string path, Partial partial) : path_(std::move(path)), partial_(std::move(partial)) {}
  ~SqliteWriter() override {
    for (const auto &[table, insert] : inserts_) sqlite3_finalize(insert);
    sqlite3_close(base_);
  }

  Result<void> open() {
    if (sqlite3_open_v2(partial_.name().c_str(), &base_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
        SQLITE_OK) {
      return wrong();
    }
    // What cannot be written to its end is deleted, so nothing has to be undone.
    run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=8192; BEGIN");
    return error_ ? wrong() : Result<void>();
  }
  Result<void> begin(const Table &table) override {
    if (const auto known = inserts_.find(&table); known != inserts_.end()) {
      insert_ = known->second;
      return {};
    }
    std::string columns;
    std::string values;
    for (const Column &each : table.columns) {
      columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", each.name,
                             each.type == Column::Type::integer ? "INTEGER" : "TEXT");
      values += values.empty() ? "?" : ",?";
    }
    const std::string key(table.key);
    if (!key.empty()) columns += ", PRIMARY KEY (" + key + ")";
    run(fmt::format("CREATE TABLE {} ({}){}", table.name, columns, key.empty() ? "" : " WITHOUT ROWID").c_str());
    insert_ = nullptr;
    const std::string text = fmt::format("INSERT INTO {} VALUES ({})", table.name, values);
    check(sqlite3_prepare_v2(base_, text.c_str(), -1, &insert_, nullptr));
    inserts_[&table] = insert_;
    return error_ ? wrong() : Result<void>();
  }
  void row(const std::vector<Cell> &cells) override {
    if (error_) return;
    int at = 0;
    for (const Cell &each : cells) {
      ++at;
      if (const auto *number = std::get_if<int64_t>(&each)) {
        check(sqlite3_bind_int64(insert_, at, *number));
      } else if (const auto *text = std::get_if<std::string_view>(&each)) {
        const std::string_view valid = valid_utf8(*text, &room_);
        const auto keep = valid.data() == text->data() ? SQLITE_STATIC : SQLITE_TRANSIENT;
        check(sqlite3_bind_text64(insert_, at, valid.data(), valid.size(), keep, SQLITE_UTF8));
      } else {
        check(sqlite3_bind_null(insert_, at));
      }
    }
    const int stepped = sqlite3_step(insert_);
    check(stepped == SQLITE_DONE ? SQLITE_OK : stepped);
    check(sqlite3_reset(insert_));
  }
  [[nodiscard]] bool failed() const override { return error_; }
  Result<void> finish() override {
    run(kViews);
    run("CREATE INDEX messages_by_receive ON messages (receiver, receive_call)");
    run("COMMIT");
    if (error_) return wrong();
    return partial_.finish();
  }

 private:
  void check(int code) {
    if (code == SQLITE_OK || error_) return;
    error_ = true;
    message_ = sqlite3_errmsg(base_);
  }
  void run(const char *statements) {
    if (!error_) check(sqlite3_exec(base_, statements, nullptr, nullptr, nullptr));
  }
  [[nodiscard]] tl::unexpected<Error> wrong() const {
    std::string said = message_.empty() && base_ != nullptr ? sqlite3_errmsg(base_) : message_;
    const int why = base_ == nullptr ? 0 : sqlite3_system_errno(base_);
    if (why != 0) said += std::string(" (") + std::strerror(why) + ")";
    return tl::unexpected(Error{ErrorKind::environment, "cannot be written: " + said, path_, Error::kNoOffset,
                                "make room there, or name another file with --output"});
  }

  std::string path_;  ///< as it is told
  Partial partial_;
  sqlite3 *base_ = nullptr;
  std::map<const Table *, sqlite3_stmt *> inserts_;
  sqlite3_stmt *insert_ = nullptr;  ///< into the one at hand
  bool error_ = false;
  std::string message_;
  std::string room_;  ///< valid_utf8
};

}  // namespace

Result<std::unique_ptr<TableWriter>> sqlite_writer(const std::string &file) {
  auto partial = Partial::of(file);
  if (!partial) return tl::unexpected(partial.error());
  auto writer = std::make_unique<SqliteWriter>(file, *std::move(partial));
  if (auto done = writer->open(); !done) return tl::unexpected(done.error());
  return writer;
}

}  // namespace cairn::exporting
