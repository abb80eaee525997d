#include "export/received_sizes.h"

#include <sys/mman.h>

#include "base/arena.h"
#include "grammar/builder.h"
#include "trace/model/status_field.h"
#include "trace/read/events.h"

namespace cairn::exporting {
namespace {

using analyze::Edge;

constexpr size_t kMostMemory = size_t{1} << 29;
constexpr size_t kMostPairs = size_t{1} << 20;  ///< some 100 MB

/// Memory that costs nothing until it is used.
class Mapping {
 public:
  explicit Mapping(size_t size)
      : size_(size),
        memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Mapping() {
    if (is_there()) munmap(memory_, size_);
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  [[nodiscard]] bool is_there() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] void *memory() const { return memory_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_;
  void *memory_;
};

}  // namespace

class SizeCollector : public analyze::Arrivals {
 public:
  SizeCollector(Arena *arena, ReceivedSizes *sizes, std::optional<uint64_t> end_ns,
                const std::function<void(uint64_t calls)> &progress)
      : arena_(*arena), sizes_(*sizes), end_ns_(end_ns), progress_(progress) {}

  void message(const Edge &edge) override {
    if (edge.kind != Edge::Kind::message) return;
    OfRank &rank = ranks_[edge.to.rank];
    if (rank.builder == nullptr) rank.builder = arena_.create<grammar::Builder>(arena_);
    if (rank.builder == nullptr || rank.full) return;
    const std::pair<uint64_t, std::optional<uint64_t>> told{edge.to.call - rank.last, edge.bytes};
    if (numbers_.size() >= kMostPairs && numbers_.find(told) == numbers_.end()) {
      rank.full = true;
      return;
    }
    const auto [known, fresh] = numbers_.try_emplace(told, static_cast<grammar::Symbol>(numbers_.size()));
    if (fresh) sizes_.symbols_.push_back(told);
    rank.full = !rank.builder->append(known->second);
    rank.last = edge.to.call;
  }
  [[nodiscard]] bool wants_untimed() const override { return true; }
  [[nodiscard]] bool wants_meetings() const override { return false; }
  [[nodiscard]] bool has_enough(uint64_t ns) const override { return end_ns_ && ns > *end_ns_; }

  void gone_through(uint64_t calls) override {
    if (progress_) progress_(calls);
  }

  Result<void> finish() {
    for (auto &[number, rank] : ranks_) {
      if (rank.builder == nullptr) continue;
      auto grammar = grammar::Grammar::from(*rank.builder);
      if (!grammar) return tl::unexpected(grammar.error());
      sizes_.by_rank_.emplace(number, *std::move(grammar));
    }
    return {};
  }

 private:
  struct OfRank {
    grammar::Builder *builder = nullptr;
    uint64_t last = 0;
    bool full = false;
  };
  Arena &arena_;
  ReceivedSizes &sizes_;
  std::optional<uint64_t> end_ns_;
  const std::function<void(uint64_t calls)> &progress_;
  std::map<uint32_t, OfRank> ranks_;
  std::map<std::pair<uint64_t, std::optional<uint64_t>>, grammar::Symbol> numbers_;
};

bool ReceivedSizes::are_needed(const trace::Trace &trace) {
  const auto all = spec::functions();
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const auto members = trace.class_view(index).ranks;
    const trace::Structure structure = trace::structure_of(trace, index);
    for (uint32_t row = 0; row < structure.rows.size() && !members.empty(); ++row) {
      const uint32_t function = structure.rows[row].function;
      if (function >= all.size()) continue;
      const trace::Row values = trace.row(index, row, members.front());
      for (size_t i = 0; i < all[function].parameter_count && i < values.fields.size(); ++i) {
        if (all[function].parameters[i].layout != spec::Layout::status) continue;
        if (trace::StatusField::of(values.fields[i]).ignored) return true;
      }
    }
  }
  return false;
}

Result<std::shared_ptr<const ReceivedSizes>> ReceivedSizes::of(std::optional<uint64_t> end_ns,
                                                               const std::function<void(uint64_t calls)> &progress,
                                                               const std::function<void(analyze::Arrivals *)> &replay) {
  auto made = std::make_shared<ReceivedSizes>();
  const Mapping mapping(kMostMemory);
  if (!mapping.is_there()) return made;
  Arena arena(mapping.memory(), mapping.size());
  SizeCollector collector(&arena, made.get(), end_ns, progress);
  replay(&collector);
  if (auto done = collector.finish(); !done) return tl::unexpected(done.error());
  return made;
}

ReceivedSizes::Reader::Reader(const ReceivedSizes &sizes, uint32_t rank) : sizes_(sizes) {
  const auto found = sizes.by_rank_.find(rank);
  if (found == sizes.by_rank_.end()) return;
  walker_.emplace(found->second);
  read();
}

void ReceivedSizes::Reader::read() {
  const grammar::Symbol symbol = walker_->next();
  next_.reset();
  if (symbol == grammar::kNoSymbol) return;
  const auto &[calls, bytes] = sizes_.symbols_[symbol];
  last_ += calls;
  next_.emplace(last_, bytes);
}

const std::vector<std::optional<uint64_t>> &ReceivedSizes::Reader::of(uint64_t call) {
  found_.clear();
  while (next_ && next_->first <= call) {
    if (next_->first == call) found_.push_back(next_->second);
    read();
  }
  return found_;
}

}  // namespace cairn::exporting
