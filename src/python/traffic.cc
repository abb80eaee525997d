// Who sends how much to whom: the matrix, messages by size, and messages one by one, from the functions of `cairn
// matrix`, `cairn sizes` and `cairn export --to csv`.
#include "export/scope.h"
#include "export/tables.h"
#include "python/run.h"
#include "traffic/matrix.h"
#include "traffic/message_sizes.h"
#include "traffic/picture.h"

namespace cairn::python {
namespace {

using traffic::Blocks;
using traffic::By;

class Matrix {
 public:
  Matrix(RunPointer run, const py::dict &words, const std::string &by, bool expanded) : run_(std::move(run)) {
    const analyze::Filter filter = run_->filter(words);
    const By apart = by == "comm" ? By::communicator : by == "site" ? By::site : By::nothing;
    matrix_ =
        taken(unlocked([&] { return traffic::matrix_of(run_->trace(), run_->sources(), filter, apart, expanded); }),
              run_->path());
    pairs_ = traffic::pairs_of(matrix_);
  }

  /// A line for each pair of ranks and kind, of each group.
  [[nodiscard]] py::dict cells() const {
    std::vector<int32_t> group;
    std::vector<uint32_t> from;
    std::vector<uint32_t> to;
    std::vector<int8_t> kind;
    std::vector<uint64_t> messages;
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> unsized;
    for (size_t i = 0; i < matrix_.groups.size(); ++i) {
      for (const traffic::Cell &cell : matrix_.groups[i].cells) {
        group.push_back(static_cast<int32_t>(i));
        from.push_back(cell.from);
        to.push_back(cell.to);
        kind.push_back(static_cast<int8_t>(cell.kind));
        messages.push_back(cell.amount.messages);
        bytes.push_back(cell.amount.bytes);
        unsized.push_back(cell.amount.unsized);
      }
    }
    py::dict all;
    all["group"] = column(std::move(group));
    all["from"] = column(std::move(from));
    all["to"] = column(std::move(to));
    all["kind"] = column(std::move(kind));
    all["messages"] = column(std::move(messages));
    all["bytes"] = column(std::move(bytes));
    all["unsized"] = column(std::move(unsized));
    return all;
  }
  [[nodiscard]] py::list groups() const {
    py::list all;
    for (const traffic::Group &group : matrix_.groups) all.append(text(group.name));
    return all;
  }
  [[nodiscard]] py::list collectives() const {
    py::list all;
    for (const traffic::CollectiveLine &line : matrix_.collectives) {
      py::dict one;
      one["operation"] = text(line.operation);
      one["communicator"] = text(line.communicator);
      if (matrix_.by == By::site) one["site"] = text(line.site);
      one["calls"] = line.calls;
      one["ranks"] = line.ranks;
      one["bytes"] = line.bytes;
      one["unsized_calls"] = line.unsized;
      all.append(one);
    }
    return all;
  }
  [[nodiscard]] uint32_t ranks() const { return matrix_.ranks; }
  /// How many ranks a block has a side, and the blocks, senders down, receivers across.
  [[nodiscard]] py::tuple blocks(uint32_t most, bool messages) const {
    Blocks found = traffic::blocks_of(pairs_, matrix_.ranks, most, messages);
    py::array square = column(std::move(found.values));
    return py::make_tuple(found.size, square.attr("reshape")(found.count, found.count));
  }
  [[nodiscard]] py::str svg(bool messages) const {
    constexpr uint32_t kMost = 128;
    return text(traffic::svg_of(traffic::blocks_of(pairs_, matrix_.ranks, kMost, messages), matrix_.ranks, run_->path(),
                                messages ? "messages" : "bytes"));
  }

 private:
  RunPointer run_;
  traffic::Matrix matrix_;
  std::vector<traffic::Cell> pairs_;
};

py::list kinds() {
  py::list all;
  for (size_t kind = 0; kind < traffic::kKinds; ++kind) all.append(traffic::word_of(static_cast<traffic::Kind>(kind)));
  return all;
}

/// A line for each size of each group.
py::list sizes(Run &run, const py::dict &words, const std::string &by, bool exact, bool times) {
  const analyze::Filter filter = run.filter(words);
  const traffic::SizesBy apart = by == "comm"   ? traffic::SizesBy::communicator
                                 : by == "site" ? traffic::SizesBy::site
                                                : traffic::SizesBy::operation;
  const traffic::MessageSizes found = taken(
      unlocked([&] { return traffic::sizes_of(run.trace(), run.sources(), filter, apart, exact, times); }), run.path());
  py::list all;
  for (const traffic::SizeGroup &group : found.groups) {
    for (const traffic::SizeLine &line : group.lines) {
      py::dict one;
      one["name"] = text(group.name);
      one["collective"] = group.collective;
      one["least"] = if_known(line.known, line.least);
      one["most"] = if_known(line.known, line.most);
      one["count"] = line.messages;
      one["bytes"] = if_known(line.known, line.bytes);
      if (found.timed) {
        one["time_ns"] = maybe(line.ns);
        one["all_timed"] = line.ns.has_value() && !line.some_untimed;
      }
      all.append(one);
    }
  }
  return all;
}

/// Keeps the rows of a table as columns.
class Keeper : public exporting::TableWriter {
 public:
  Result<void> begin(const exporting::Table &table) override {
    table_ = table;
    numbers_.resize(table.columns.size());
    names_.resize(table.columns.size());
    return {};
  }
  void row(const std::vector<exporting::Cell> &cells) override {
    for (size_t i = 0; i < cells.size(); ++i) {
      int64_t number = INT64_MIN;  // not known
      if (const auto *known = std::get_if<int64_t>(&cells[i])) number = *known;
      if (const auto *word = std::get_if<std::string_view>(&cells[i])) number = names_[i].of(*word);
      numbers_[i].push_back(number);
    }
  }
  [[nodiscard]] bool failed() const override { return false; }
  Result<void> finish() override { return {}; }

  /// Of texts, their numbers and what these mean.
  py::dict columns() {
    py::dict all;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      py::object values = column(std::move(numbers_[i]));
      if (table_.columns[i].type == exporting::Column::Type::text) values = py::make_tuple(values, names_[i].names());
      all[table_.columns[i].name] = values;
    }
    return all;
  }

 private:
  exporting::Table table_{};
  std::vector<std::vector<int64_t>> numbers_;
  std::vector<Codes> names_;
};

py::dict messages(Run &run, const py::dict &words) {
  const analyze::Filter filter = run.filter(words);
  Keeper keeper;
  exporting::TableCounts counts;
  const auto done = unlocked([&]() -> Result<void> {
    auto scope = exporting::Scope::of(run.trace(), run.sources(), filter);
    if (!scope) return tl::unexpected(scope.error());
    return exporting::write_messages(&*scope, &keeper, &counts);
  });
  if (!done) raise(done.error(), run.path());
  return keeper.columns();
}

}  // namespace

void declare_traffic(py::module_ &module) {
  module.def("kinds", &kinds);
  module.def("sizes", &sizes);
  module.def("messages", &messages);
  py::class_<Matrix>(module, "Matrix")
      .def(py::init<RunPointer, const py::dict &, const std::string &, bool>())
      .def("cells", &Matrix::cells)
      .def("groups", &Matrix::groups)
      .def("collectives", &Matrix::collectives)
      .def("ranks", &Matrix::ranks)
      .def("blocks", &Matrix::blocks)
      .def("svg", &Matrix::svg);
}

}  // namespace cairn::python
