// The calls and messages of a run as tables, for spreadsheets, data frames and SQL. docs/export.md has their columns.
//
// `write_tables` walks the run once for the calls, objects and requests, and once more, all ranks side by side, for the
// messages (analyze/messages.h): memory for the latter. Rows come in the order of (rank, call), messages as they
// arrive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "export/message_ends.h"
#include "export/scope.h"
#include "gpu/file/launches.h"

namespace cairn::exporting {

struct Column {
  enum class Type : uint8_t { integer, text };
  const char *name;
  Type type;
};

struct Table {
  const char *name;
  std::vector<Column> columns;
  const char *key = "";  ///< columns that tell rows apart, where rows come in their order
};

/// A value, or nothing where it is not known.
using Cell = std::variant<std::monostate, int64_t, std::string_view>;
inline Cell cell(uint64_t number) { return static_cast<int64_t>(number); }

class TableWriter {
 public:
  TableWriter() = default;
  virtual ~TableWriter() = default;
  TableWriter(const TableWriter &) = delete;
  TableWriter &operator=(const TableWriter &) = delete;
  /// Rows are of this one from now on; it may have some from before. It must stay where it is.
  virtual Result<void> begin(const Table &table) = 0;
  /// As many as the table has columns. What goes wrong is told by `finish`.
  virtual void row(const std::vector<Cell> &cells) = 0;
  [[nodiscard]] virtual bool failed() const = 0;
  virtual Result<void> finish() = 0;
};

/// A folder with a file for each table, as RFC 4180 has it, with a line of names.
Result<std::unique_ptr<TableWriter>> csv_writer(const std::string &folder);
/// A database of SQLite with views of what is often asked. Fails where this was built without the library.
Result<std::unique_ptr<TableWriter>> sqlite_writer(const std::string &file);

struct TableCounts {
  uint64_t calls = 0;
  uint64_t messages = 0;
  LeftOut left_out;
};

/// Fails where calls, or times that the trace has, cannot be read: then all that could be is there. `launches`: of
/// GPUs.
Result<void> write_tables(Scope *scope, const gpu::Launches &launches, TableWriter *writer, TableCounts *counts);
/// The messages alone.
Result<void> write_messages(Scope *scope, TableWriter *writer, TableCounts *counts);

}  // namespace cairn::exporting
