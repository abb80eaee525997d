#include "scale/reduction.h"

#include <algorithm>
#include <bit>
#include <ctime>

#include "scale/chance.h"
#include "scale/heap_count.h"

namespace cairn::scale {

using trace::Part;

uint64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void Spread::add(uint64_t value, bool root) {
  ++count_;
  sum_ += value;
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  if (root) root_ = value;
}

namespace {

/// Ranks first, first + stride, …
struct Ranks {
  uint32_t first;
  uint32_t count;
  uint32_t stride;
};

/// What one rank has in hand, and what it cost it and those above it.
struct Node {
  Part part;
  uint32_t rank = 0;
  uint64_t own_ns = 0;
  uint64_t memory = 0;
  uint64_t path_ns = 0;
  uint64_t merge_path_ns = 0;
};

/// Time and heap of one stretch of work.
class Stretch {
 public:
  Stretch() {
    heap::count(true);
    heap::forget_peak();
    start_ = cpu_ns();
  }
  ~Stretch() { heap::count(false); }
  Stretch(const Stretch &) = delete;
  Stretch &operator=(const Stretch &) = delete;
  /// Since the last lap or the start.
  uint64_t lap() {
    const uint64_t now = cpu_ns();
    const uint64_t spent = now - start_;
    start_ = now;
    return spent;
  }

 private:
  uint64_t start_ = 0;
};

class Reduction {
 public:
  Reduction(Source *source, const Tree &tree, const std::function<bool(ByteView)> &bundle, Reduced *into)
      : source_(*source), tree_(tree), bundle_(bundle), into_(*into) {
    into_.levels.resize(static_cast<size_t>(std::bit_width(source->ranks() - 1)) + 1);
  }

  Result<Node> run() {
    Result<Node> root = reduce({0, source_.ranks(), 1});
    if (root) leave(*root);
    return root;
  }

 private:
  Result<Node> reduce(const Ranks &ranks) {
    const uint64_t before = heap::live();  // of others, who wait
    if (ranks.count == 1) return leaf(ranks.first, before);
    if (tree_.shape == Tree::Shape::flat) return one_by_one(ranks, before);
    const auto [left, right] = split(ranks);
    Result<Node> lower = reduce(left);
    if (!lower) return lower;
    const uint64_t with_lower = heap::live();
    Result<Node> upper = reduce(right);
    if (!upper) return upper;
    return join(*std::move(lower), *std::move(upper), ranks.count, before, with_lower);
  }

  Result<Node> one_by_one(const Ranks &ranks, uint64_t before) {
    Result<Node> all = leaf(ranks.first, before);
    for (uint32_t i = 1; all && i < ranks.count; ++i) {
      const uint64_t with_lower = heap::live();
      Result<Node> next = leaf(ranks.first + i * ranks.stride, with_lower);
      all = next ? join(*std::move(all), *std::move(next), i + 1, before, with_lower) : std::move(next);
    }
    return all;
  }

  [[nodiscard]] std::pair<Ranks, Ranks> split(const Ranks &ranks) const {
    const auto [first, count, stride] = ranks;
    if (tree_.shape == Tree::Shape::interleaved) {
      return {{first, (count + 1) / 2, 2 * stride}, {first + stride, count / 2, 2 * stride}};
    }
    uint32_t lower = std::bit_floor(count - 1);
    if (tree_.shape == Tree::Shape::random) lower = 1 + below(chance(tree_.seed, first, count), count - 1);
    return {{first, lower, stride}, {first + lower * stride, count - lower, stride}};
  }

  Result<Node> leaf(uint32_t rank, uint64_t before) {
    Node node;
    node.rank = rank;
    const trace::ProcessRecord record = source_.record(rank);
    Stretch work;
    Result<Part> part = Part::of(record);
    if (!part) return tl::unexpected(part.error());
    node.part = *std::move(part);
    node.own_ns = work.lap();
    node.memory = heap::peak() - before;
    node.path_ns = node.own_ns;
    into_.levels[0].merge_ns.add(node.own_ns, rank == 0);
    into_.levels[0].memory.add(node.memory, rank == 0);
    return node;
  }

  /// `before`: live when the lower rank had nothing yet; `with_lower`: when it had its part and the upper nothing.
  Result<Node> join(Node lower, Node upper, uint32_t ranks, uint64_t before, uint64_t with_lower) {
    Level &level = into_.levels[static_cast<size_t>(std::bit_width(ranks - 1))];
    const bool root = lower.rank == 0;
    Bytes bytes;
    uint64_t serialise_ns = 0;
    {
      Stretch work;
      bytes = upper.part.serialise();
      serialise_ns = work.lap();
      upper.memory = std::max(upper.memory, heap::peak() - with_lower);
      upper.part = Part();
    }
    upper.own_ns += serialise_ns;
    upper.path_ns += serialise_ns;
    leave(upper);

    Stretch work;
    Result<Part> received = Part::parse(bytes);
    const uint64_t size = bytes.size();
    bytes = Bytes();
    if (!received) return tl::unexpected(received.error());
    const uint64_t parse_ns = work.lap();
    Result<Part> part = Part::merge(std::move(lower.part), *std::move(received));
    if (!part) return tl::unexpected(part.error());
    const Result<Bytes> bundle = part->take_bundle(tree_.bundles_from);
    const uint64_t merge_ns = work.lap();
    if (!bundle) return tl::unexpected(bundle.error());
    const uint64_t memory = heap::peak() - before;
    into_.bundle_bytes += bundle->size();
    if (!bundle_(*bundle)) return fail(ErrorKind::environment, "no room for a bundle");
    (void)work.lap();
    level.serialise_ns.add(serialise_ns, root);
    level.parse_ns.add(parse_ns, root);
    level.merge_ns.add(merge_ns, root);
    level.bytes.add(size, root);
    level.memory.add(memory, root);

    lower.part = *std::move(part);
    lower.own_ns += parse_ns + merge_ns;
    lower.memory = std::max(lower.memory, memory);
    lower.path_ns = std::max(lower.path_ns, upper.path_ns) + parse_ns + merge_ns;
    lower.merge_path_ns = std::max(lower.merge_path_ns, upper.merge_path_ns) + merge_ns;
    return lower;
  }

  /// A rank has nothing more to do.
  void leave(const Node &node) {
    into_.rank_ns.add(node.own_ns, node.rank == 0);
    into_.rank_memory.add(node.memory, node.rank == 0);
  }

  Source &source_;
  Tree tree_;
  const std::function<bool(ByteView)> &bundle_;
  Reduced &into_;
};

}  // namespace

Result<Reduced> reduce(Source *source, const Tree &tree, const std::function<bool(ByteView)> &bundle) {
  Reduced result;
  timespec start{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  Result<Node> root = Reduction(source, tree, bundle, &result).run();
  if (!root) return tl::unexpected(root.error());
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  result.seconds =
      static_cast<double>(end.tv_sec - start.tv_sec) + 1e-9 * static_cast<double>(end.tv_nsec - start.tv_nsec);
  result.part = std::move(root->part);
  result.longest_path_ns = root->path_ns;
  result.longest_merge_path_ns = root->merge_path_ns;
  return result;
}

}  // namespace cairn::scale
