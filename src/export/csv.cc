#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "export/files.h"
#include "export/tables.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

class CsvWriter : public TableWriter {
 public:
  explicit CsvWriter(Partial folder) : folder_(std::move(folder)) {}

  Result<void> begin(const Table &table) override {
    if (const auto known = files_.find(&table); known != files_.end()) {
      file_ = &known->second;
      return {};
    }
    auto file = OutFile::create_in(&folder_, std::string(table.name) + ".csv");
    if (!file) return tl::unexpected(file.error());
    file_ = &files_.emplace(&table, *std::move(file)).first->second;
    line_.clear();
    for (const Column &column : table.columns) add(std::string_view(column.name));
    end_line();
    return {};
  }
  void row(const std::vector<Cell> &cells) override {
    line_.clear();
    for (const Cell &each : cells) add(each);
    end_line();
  }
  [[nodiscard]] bool failed() const override {
    return std::any_of(files_.begin(), files_.end(), [](const auto &each) { return each.second.failed(); });
  }
  Result<void> finish() override {
    for (auto &[table, file] : files_) {
      if (auto done = file.finish(); !done) return done;
    }
    return folder_.finish();
  }

 private:
  void add(const Cell &cell) {
    if (const auto *number = std::get_if<int64_t>(&cell)) {
      fmt::format_to(std::back_inserter(line_), "{}", *number);
    } else if (const auto *given = std::get_if<std::string_view>(&cell)) {
      const std::string_view text = valid_utf8(*given, &room_);
      if (text.find_first_of(",\"\r\n") == text.npos) {
        line_ += text;
      } else {
        line_ += '"';
        for (const char each : text) line_.append(each == '"' ? 2 : 1, each);
        line_ += '"';
      }
    }
    line_ += ',';
  }
  void end_line() {
    line_.back() = '\n';
    file_->write(line_);
  }
  Partial folder_;
  std::map<const Table *, OutFile> files_;
  OutFile *file_ = nullptr;  ///< of the one at hand
  std::string line_;
  std::string room_;  ///< valid_utf8
};

}  // namespace

Result<std::unique_ptr<TableWriter>> csv_writer(const std::string &path) {
  auto folder = Partial::of(path, true);
  if (!folder) return tl::unexpected(folder.error());
  return std::make_unique<CsvWriter>(*std::move(folder));
}

}  // namespace cairn::exporting
