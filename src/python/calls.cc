// Calls one by one: those that a filter takes, in order, as tuples or as columns; and any call of a rank by its index.
#include <algorithm>
#include <unordered_map>

#include "analyze/any_call.h"
#include "analyze/rank_calls.h"
#include "analyze/selected_calls.h"
#include "analyze/volume.h"
#include "analyze/wanted_calls.h"
#include "python/run.h"
#include "trace/read/events.h"

namespace cairn::python {
namespace {

using analyze::CommunicatorNames;
using trace::Event;

/// Calls as tuples: what single calls have, and what equal ones share, which is decoded once.
class Describer {
 public:
  explicit Describer(Run &run) : run_(run), decoder_(run.trace(), run.sources()) {}

  py::tuple describe(const Event &event, const CommunicatorNames &names, std::optional<uint64_t> step) {
    const auto when = [&](uint64_t ns) { return event.timed ? py::object(py::int_(ns)) : py::none(); };
    return py::make_tuple(event.rank, event.thread, event.index, maybe(step),
                          event.segment == trace::SequenceRecord::kEpilogue, when(event.begin_ns),
                          when(took_ns(run_.trace(), event)), when(event.gap_ns), shared(event, names));
  }
  /// Numbers of calls begin anew.
  void forget() { known_.clear(); }

 private:
  struct Known {
    py::object what;
    uint64_t names_version = 0;  ///< that it holds for; 0: for any
  };

  const py::object &shared(const Event &event, const CommunicatorNames &names) {
    constexpr size_t kMost = size_t{1} << 16;  // where calls do not recur, keeping more helps nothing
    if (known_.size() >= kMost) known_.clear();
    const auto [found, added] = known_.try_emplace(uint64_t{event.class_index} << 32 | event.call);
    Known &known = found->second;
    if (!added && (known.names_version == 0 || known.names_version == names.version())) return known.what;
    const analyze::Call call = decoder_.decode(event.class_index, *event.values, &names);
    py::dict arguments;
    for (const analyze::Argument &argument : call.arguments) arguments[argument.name] = value(argument.value);
    known.what = py::make_tuple(text(analyze::function_name(call.function_id)), call.depth, arguments,
                                value(call.result), call.returned, call.malformed, position(call.position),
                                positions(call.callers), text(analyze::call_text(call)));
    known.names_version = call.names_version;
    return known.what;
  }

  Run &run_;
  analyze::Decoder decoder_;
  std::unordered_map<uint64_t, Known> known_;
};

/// Columns of calls.
struct Chunk {
  std::vector<uint32_t> rank;
  std::vector<uint32_t> thread;
  std::vector<uint64_t> index;
  std::vector<int32_t> function;
  std::vector<int32_t> site;
  std::vector<uint32_t> depth;
  std::vector<int64_t> begin_ns;  ///< -1, like the others: not known
  std::vector<int64_t> duration_ns;
  std::vector<int64_t> gap_ns;
  std::vector<int64_t> bytes;

  py::object columns(bool with_bytes) {
    if (rank.empty()) return py::none();
    py::dict all;
    all["rank"] = column(std::move(rank));
    all["thread"] = column(std::move(thread));
    all["index"] = column(std::move(index));
    all["function"] = column(std::move(function));
    all["site"] = column(std::move(site));
    all["depth"] = column(std::move(depth));
    all["begin_ns"] = column(std::move(begin_ns));
    all["duration_ns"] = column(std::move(duration_ns));
    all["gap_ns"] = column(std::move(gap_ns));
    if (with_bytes) all["bytes"] = column(std::move(bytes));
    return all;
  }
};

/// The calls of the ranks that a filter takes, rank by rank.
class Cursor {
 public:
  Cursor(RunPointer run, const py::dict &words, bool bytes)
      : run_(std::move(run)),
        filter_(run_->filter(words)),
        wanted_(run_->trace(), run_->sources(), filter_),
        describer_(*run_),
        with_bytes_(bytes) {
    if (with_bytes_) selected_ = std::make_unique<analyze::SelectedCalls>(run_->trace(), analyze::Volumes::needs);
  }

  /// None at the end.
  py::object next() {
    std::unique_lock lock(lock_, std::defer_lock);
    const Event *event = unlocked([&] {
      lock.lock();
      return advance();
    });
    if (event == nullptr) return end();
    if (std::exchange(numbers_begin_anew_, false)) describer_.forget();
    return describer_.describe(*event, calls_->names(), calls_->step());
  }

  /// The next calls, at most so many; None at the end.
  py::object fill(size_t most) {
    std::unique_lock lock(lock_, std::defer_lock);
    Chunk chunk;
    unlocked([&] {
      lock.lock();
      while (chunk.rank.size() < most) {
        const Event *event = advance();
        if (event == nullptr) break;
        add(*event, &chunk);
      }
    });
    return chunk.rank.empty() ? end() : chunk.columns(with_bytes_);
  }

  [[nodiscard]] py::list functions() const { return functions_.names(); }
  [[nodiscard]] py::list sites() const { return sites_.names(); }

 private:
  const Event *advance() {
    while (!filter_.limit || given_ < *filter_.limit) {
      if (!calls_) {
        if (rank_ == filter_.ranks.size()) return nullptr;
        const uint32_t rank = filter_.ranks[rank_];
        calls_ = std::make_unique<analyze::RankCalls>(run_->trace(), run_->sources(), filter_, wanted_, rank);
        if (selected_) volumes_.emplace(run_->trace(), *selected_, rank);
        numbers_begin_anew_ = true;
      }
      if (const Event *event = calls_->next()) {
        ++given_;
        return event;
      }
      // Damage to times, which are few of what a call has, keeps no calls back.
      if (!calls_->end() && !error_) error_ = calls_->end().error();
      calls_.reset();
      ++rank_;
    }
    return nullptr;
  }

  py::object end() {
    if (const auto error = std::exchange(error_, std::nullopt)) raise(*error, run_->path());
    return py::none();
  }

  void add(const Event &event, Chunk *chunk) {
    const trace::Row &row = *event.values;
    const auto when = [&](uint64_t ns) { return event.timed ? static_cast<int64_t>(ns) : -1; };
    chunk->rank.push_back(event.rank);
    chunk->thread.push_back(event.thread);
    chunk->index.push_back(event.index);
    chunk->depth.push_back(row.depth);
    chunk->begin_ns.push_back(when(event.begin_ns));
    chunk->duration_ns.push_back(when(took_ns(run_->trace(), event)));
    chunk->gap_ns.push_back(when(event.gap_ns));
    if (row.function >= function_codes_.size()) function_codes_.resize(row.function + 1, -1);
    int32_t &function = function_codes_[row.function];
    if (function < 0) function = functions_.of(analyze::function_name(row.function));
    chunk->function.push_back(function);
    const auto [site, added] = site_codes_.try_emplace(uint64_t{event.class_index} << 32 | row.site, -1);
    if (added) {
      const std::string where = run_->sources().position(event.class_index, row.site).text();
      if (!where.empty()) site->second = sites_.of(where);
    }
    chunk->site.push_back(site->second);
    if (!volumes_) return;
    const analyze::Volume volume = volumes_->of(event.class_index, row);
    chunk->bytes.push_back(volume.moves && volume.bytes ? *volume.bytes : -1);
  }

  RunPointer run_;
  std::mutex lock_;
  analyze::Filter filter_;
  analyze::WantedCalls wanted_;
  Describer describer_;
  bool with_bytes_;
  std::unique_ptr<analyze::SelectedCalls> selected_;
  std::optional<analyze::RankVolumes> volumes_;  ///< of the rank
  size_t rank_ = 0;                              ///< of the filter's
  std::unique_ptr<analyze::RankCalls> calls_;
  uint64_t given_ = 0;
  std::optional<Error> error_;
  Codes functions_;
  Codes sites_;
  std::vector<int32_t> function_codes_;  ///< by id
  std::unordered_map<uint64_t, int32_t> site_codes_;
  bool numbers_begin_anew_ = false;
};

/// Any call of a rank.
class Place {
 public:
  Place(RunPointer run, uint32_t rank) : run_(std::move(run)), calls_(run_->trace(), rank), describer_(*run_) {}

  uint64_t count() {
    const py::gil_scoped_release release;
    const std::lock_guard lock(lock_);
    return calls_.count();
  }

  /// None if there are not so many.
  py::object at(uint64_t index) {
    std::unique_lock lock(lock_, std::defer_lock);
    const Event *event = unlocked([&] {
      lock.lock();
      return calls_.at(index);
    });
    if (calls_.begins_anew()) describer_.forget();
    if (event != nullptr) return describer_.describe(*event, calls_.names(), std::nullopt);
    if (!calls_.end()) raise(calls_.end().error(), run_->path());
    return py::none();
  }

  /// The index of the first call that ends at that moment or later; None if there is none, or no times are known.
  py::object index_at(uint64_t ns) {
    std::unique_lock lock(lock_, std::defer_lock);
    return maybe(unlocked([&] {
      lock.lock();
      return calls_.index_at(ns);
    }));
  }

 private:
  RunPointer run_;
  std::mutex lock_;
  analyze::AnyCall calls_;
  Describer describer_;
};

}  // namespace

void declare_calls(py::module_ &module) {
  py::class_<Cursor>(module, "Cursor")
      .def(py::init<RunPointer, const py::dict &, bool>())
      .def("next", &Cursor::next)
      .def("fill", &Cursor::fill)
      .def("functions", &Cursor::functions)
      .def("sites", &Cursor::sites);
  py::class_<Place>(module, "Place")
      .def(py::init([](RunPointer run, uint32_t rank) {
        unlocked([&] { return &run->sources(); });  // the first time, they are looked for
        return std::make_unique<Place>(std::move(run), rank);
      }))
      .def("count", &Place::count)
      .def("at", &Place::at)
      .def("index_at", &Place::index_at);
}

}  // namespace cairn::python
