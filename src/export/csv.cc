#include <fmt/format.h>

#include <optional>

#include "export/files.h"
#include "export/tables.h"

namespace cairn::exporting {
namespace {

class CsvWriter : public TableWriter {
 public:
  explicit CsvWriter(Folder folder) : folder_(std::move(folder)) {}

  Result<void> begin(const Table &table) override {
    if (auto done = close(); !done) return done;
    auto file = OutFile::create(folder_.will_have(std::string(table.name) + ".csv"));
    if (!file) return tl::unexpected(file.error());
    file_.emplace(*std::move(file));
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
  [[nodiscard]] bool failed() const override { return file_ && file_->failed(); }
  Result<void> finish() override {
    if (auto done = close(); !done) return done;
    folder_.keep();
    return {};
  }

 private:
  void add(const Cell &cell) {
    if (const auto *number = std::get_if<int64_t>(&cell)) {
      fmt::format_to(std::back_inserter(line_), "{}", *number);
    } else if (const auto *text = std::get_if<std::string_view>(&cell)) {
      if (text->find_first_of(",\"\r\n") == text->npos) {
        line_ += *text;
      } else {
        line_ += '"';
        for (const char each : *text) line_.append(each == '"' ? 2 : 1, each);
        line_ += '"';
      }
    }
    line_ += ',';
  }
  void end_line() {
    line_.back() = '\n';
    file_->write(line_);
  }
  Result<void> close() {
    if (!file_) return {};
    auto done = file_->finish();
    file_.reset();
    return done;
  }

  Folder folder_;
  std::optional<OutFile> file_;
  std::string line_;
};

}  // namespace

Result<std::unique_ptr<TableWriter>> csv_writer(const std::string &path) {
  auto folder = Folder::make(path);
  if (!folder) return tl::unexpected(folder.error());
  return std::make_unique<CsvWriter>(*std::move(folder));
}

}  // namespace cairn::exporting
