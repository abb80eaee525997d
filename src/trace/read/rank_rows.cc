#include "trace/read/rank_rows.h"

#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

RankRows::RankRows(const Trace &trace, const ClassPart &part, const SequenceView &sequence)
    : trace_(trace),
      part_(part),
      rank_(sequence.rank),
      member_(*part.ranks.index_of(sequence.rank)),
      groups_(part.rows),
      streams_(groups_.count()) {
  for (const Stream &stream : part.streams) {
    const ClassRow &first = *part.rows[groups_.first_row[stream.group]];
    OfGroup &of = streams_[stream.group];
    for (const StreamVariant &variant : stream.variants) {
      const std::optional<uint64_t> member = variant.ranks.index_of(rank_);
      if (!member) continue;
      if (count_field(first) == stream.field) {
        of.count.emplace(variant, stream.field, *member, false);
      } else {
        const bool by_call = is_by_call(first, stream.field);
        (by_call ? of.by_call : of.by_row).emplace_back(variant, stream.field, *member, by_call);
      }
    }
  }
}

bool RankRows::is_plain(uint32_t group) const {
  const OfGroup &of = streams_[group];
  return of.by_row.empty() && of.by_call.empty() && !of.count;
}

RowCalls RankRows::calls(uint32_t row) {
  OfGroup &of = streams_[groups_.of_row[row]];
  ByteWriter key;
  for (StreamReader &stream : of.by_row) stream.next(&key);
  const uint64_t count = of.count ? of.count->next_count() : 1;
  if (std::holds_alternative<Draining>(part_.rows[row]->kind)) {
    return RowCalls(DrainingCalls(this, row, key.take(), count));
  }
  return RowCalls(EqualCalls(row, key.take(), count));
}

uint64_t RankRows::calls_before(uint32_t group, uint64_t rows) {
  OfGroup &of = streams_[group];
  uint64_t calls = of.count->counts_before(rows);
  const size_t fields = call_fields(*part_.rows[groups_.first_row[group]]);
  for (StreamReader &stream : of.by_call) {
    if (stream.field() < fields) continue;
    const uint64_t misses = stream.counts_before(calls);
    calls = misses > UINT64_MAX - calls ? UINT64_MAX : calls + misses;
    break;
  }
  return calls;
}

void RankRows::seek(uint32_t group, uint64_t rows) {
  OfGroup &of = streams_[group];
  for (StreamReader &stream : of.by_row) stream.seek(rows);
  if (of.count) of.count->seek(rows);
  if (of.by_call.empty()) return;
  const uint64_t draining = of.count ? of.count->counts_before(rows) : rows;
  for (StreamReader &stream : of.by_call) stream.seek(draining);
}

std::optional<CallRun> DrainingCalls::next() {
  if (!call_) {
    if (left_ == 0) return std::nullopt;
    --left_;
    RankRows::DrainingCall next = rows_->next_draining(row_);
    misses_ = next.misses;
    call_ = std::move(next.key);
  }
  CallRun run = {.row = row_, .first = first_, .miss = misses_ != 0};
  ByteWriter key;
  key.byte(static_cast<uint8_t>((run.first ? 1 : 0) + (run.miss ? 2 : 0)));
  key.blob(key_);
  if (run.miss) {
    run.times = first_ ? 1 : misses_;
    misses_ -= run.times;
  } else {
    key.raw(*call_);
    call_.reset();
  }
  run.key = key.take();
  first_ = false;
  return run;
}

RankRows::DrainingCall RankRows::next_draining(uint32_t row) {
  DrainingCall result;
  ByteWriter key;
  const size_t fields = call_fields(*part_.rows[row]);
  for (StreamReader &stream : streams_[groups_.of_row[row]].by_call) {
    if (stream.field() < fields) {
      stream.next(&key);
    } else {
      result.misses = stream.next_count();
    }
  }
  result.key = key.take();
  return result;
}

Row RankRows::complete(const CallRun &run) const {
  Row result = part_.rows[run.row]->at(member_);
  for (const StreamReader &stream : streams_[groups_.of_row[run.row]].by_row) {
    result.fields[stream.field()] = stream.value();
  }
  expand_prefix_sums(&result);
  trace_.body().number_modules(&result, rank_);
  if (std::holds_alternative<Draining>(part_.rows[run.row]->kind)) complete_draining(run, &result);
  return result;
}

void RankRows::complete_draining(const CallRun &run, Row *row) const {
  std::vector<Field> &fields = row->fields;
  for (const StreamReader &stream : streams_[groups_.of_row[run.row]].by_call) {
    if (stream.field() < fields.size()) fields[stream.field()] = stream.value();
  }
  if (const auto drained = DrainedField::of(*row); drained && !run.first) {
    fields[drained->requests].atoms.resize(1);
    fields[drained->requests].atoms.push_back(0);
  }
  if (!run.miss) return;
  const auto draining = std::get<Draining>(part_.rows[run.row]->kind);
  for (size_t f = draining.first_output; f < fields.size(); ++f) {
    fields[f] = {};
    if (f == draining.answer || f + 1 == fields.size()) fields[f].atoms = {0};
  }
}

}  // namespace cairn::trace
