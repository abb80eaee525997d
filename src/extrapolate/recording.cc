#include "extrapolate/recording.h"

#include <algorithm>
#include <cmath>

#include "extrapolate/row_parts.h"
#include "extrapolate/walk.h"
#include "spec/ids.h"

namespace cairn::extrapolate {

using trace::Atom;
using trace::Field;
using trace::Row;

constexpr uint64_t kMostWrittenOut = 64;  // turns that need no compressing

RankRecording::RankRecording(const Program &program, const Times *times, const Coordinates &of, Peers *peers)
    : program_(program), times_(times), of_(of), peers_(*peers), donor_(program.donor_of(of)) {}

int64_t RankRecording::count_of(const CourseItem &item) {
  const ItemRule &rule = program_.rules()[item.number];
  Moment moment;
  moment.of = &of_;
  if (rule.count) {
    const std::optional<int64_t> count = rule.count->at(moment);
    if (count && *count >= 0) return *count;
    ++failed_;
  }
  return std::max<int64_t>(0, program_.donor_count(item, donor_));
}

bool RankRecording::notices(const CourseItem &item, unsigned level) const {
  const unsigned around = level + (item.turns ? 1 : 0);
  if (!item.is_loop()) return around < 8 && (program_.rules()[item.number].call.loops >> around & 1) != 0;
  return std::any_of(item.body.begin(), item.body.end(),
                     [&](const CourseItem &inner) { return notices(inner, around); });
}

bool RankRecording::notices_its_own(const CourseItem &item) const {
  if (!item.turns) return false;
  if (!item.is_loop()) return (program_.rules()[item.number].call.loops & 1) != 0;
  return std::any_of(item.body.begin(), item.body.end(), [&](const CourseItem &inner) { return notices(inner, 0); });
}

void RankRecording::append(const std::vector<CourseItem> &list, const Moment &moment, Body *out) {
  for (const CourseItem &item : list) {
    const int64_t turns = count_of(item);
    if (turns == 0) continue;
    const bool differs = notices_its_own(item);
    if (differs) written_out_ += static_cast<uint64_t>(turns);
    for (int64_t turn = 0; turn < (differs ? turns : 1); ++turn) {
      const Moment here = item.turns ? inside(moment, turn, turns) : moment;
      const uint64_t times = differs ? 1 : static_cast<uint64_t>(turns);
      if (!item.is_loop()) {
        out->push_back({symbol_of(item, here), false, times});
      } else if (differs) {
        append(item.body, here, out);
      } else {
        const auto rule = static_cast<uint32_t>(rules_.size());
        rules_.emplace_back();
        Body body;
        append(item.body, here, &body);
        rules_[rule] = std::move(body);
        if (!rules_[rule].empty()) out->push_back({rule, true, times});
      }
    }
  }
}

uint32_t RankRecording::local_site(uint32_t site) {
  if (site == 0) return 0;
  const auto [entry, fresh] = local_sites_.try_emplace(site, static_cast<uint32_t>(sequence_.sites.size()));
  if (fresh) {
    const Catalogue::Origin &origin = program_.catalogue().origins()[site];
    trace::Site there = origin.site;
    there.module = program_.catalogue().module_of(origin.run, there.module);
    // Callers are numbered as in the largest run.
    if (origin.run + 1 != program_.runs()) there.caller = 0;
    sequence_.sites.push_back(there);
  }
  return entry->second;
}

Atom RankRecording::atom_of(const AtomRule &rule, const Moment &moment, const Field &donated, size_t place) {
  if (rule.kind == AtomRule::Kind::law) {
    const auto possible = [&](const std::optional<int64_t> &value) {
      return value && (rule.negative || *value >= 0 || trace::is_special(*value));
    };
    const std::optional<int64_t> exact = rule.law.at(moment);
    if (possible(exact)) return *exact;
    const std::optional<int64_t> rounded = rule.law.rounded(moment);
    if (!exact && possible(rounded)) {
      ++rounded_;
      return *rounded;
    }
    ++failed_;
  }
  const Atom value = place < donated.atoms.size() ? donated.atoms[place] : 0;
  if (trace::is_special(value)) return value;
  if (rule.growth != 0) {
    const double grown = static_cast<double>(of_.scale) / static_cast<double>(program_.largest().scale);
    return std::llround(static_cast<double>(value) * std::pow(grown, rule.growth));
  }
  if (rule.kind != AtomRule::Kind::drawn_rank) return value;
  // As far from this rank as the donor's partner is from the donor.
  const int64_t there = program_.largest().ranks;
  int64_t distance = value - donor_;
  if (distance > there / 2) distance -= there;
  if (distance < -there / 2) distance += there;
  return ((of_.rank + distance) % of_.ranks + of_.ranks) % of_.ranks;
}

void RankRecording::fill(const FieldRule &rule, const Moment &moment, Field *field) {
  const Field donated = std::move(*field);
  *field = Field();
  if (rule.kind == FieldRule::Kind::list) {
    const std::optional<int64_t> length = rule.length.at(moment);
    if (!length || *length < 0) {
      ++failed_;
      *field = donated;
      return;
    }
    for (int64_t e = 0; e < *length; ++e) {
      Moment here = moment;
      here.element = static_cast<int32_t>(e);
      here.elements = static_cast<int32_t>(*length);
      for (const AtomRule &atom : rule.element) {
        const size_t place = field->atoms.size();
        field->atoms.push_back(atom_of(atom, here, donated, donated.atoms.empty() ? 0 : place % donated.atoms.size()));
      }
    }
    return;
  }
  const std::optional<int64_t> shape = rule.shape.at(moment);
  if (!shape || *shape < 0 || static_cast<size_t>(*shape) >= rule.shapes.size()) {
    ++failed_;
    *field = donated;
    return;
  }
  for (const AtomRule &atom : rule.shapes[static_cast<size_t>(*shape)]) {
    field->atoms.push_back(atom_of(atom, moment, donated, field->atoms.size()));
  }
}

void RankRecording::receive_what_is_sent(const CourseItem &item, const Moment &moment, size_t place, Row *row) {
  const std::optional<Exchange> parts = exchange_of(row->function);
  if (!parts) return;
  const CallRule &rule = program_.rules()[item.number].call;
  const FieldRule &sent = rule.fields[parts->sent];
  const FieldRule &received = rule.fields[parts->received];
  const auto has_law = [](const AtomRule &atom) { return atom.kind == AtomRule::Kind::law; };
  const bool is_list = sent.kind == FieldRule::Kind::list && sent.element.size() == 1 &&
                       received.kind == FieldRule::Kind::list && received.element.size() == 1;
  if (!is_list || has_law(received.element[0])) return;
  // Of other communicators it is not known who is who in them; types of two sizes have no common amounts.
  const std::vector<Atom> world = {trace::constant_atom(spec::constant_id::k_COMM_WORLD)};
  Field &amounts = row->fields[parts->received];
  if (row->fields[parts->comm].atoms != world || row->fields[parts->type] != row->fields[parts->received_type] ||
      amounts.atoms.size() != static_cast<size_t>(of_.ranks)) {
    return;
  }
  for (size_t from = 0; from < amounts.atoms.size(); ++from) {
    const Peers::Peer &peer = peers_.all()[from];
    const std::vector<uint32_t> &calls = program_.donor_calls(item, peer.donor);
    if (calls.empty()) return;
    const Field &donated = program_.catalogue().calls()[calls[place % calls.size()]].fields[parts->sent];
    if (donated.atoms.empty()) return;
    Moment there = moment;
    there.of = &peer.of;
    if (!sent.turning) there = Moment{&peer.of};
    there.element = static_cast<int32_t>(of_.rank);
    there.elements = static_cast<int32_t>(of_.ranks);
    const size_t element = static_cast<size_t>(of_.rank) % donated.atoms.size();
    amounts.atoms[from] = atom_of(sent.element[0], there, donated, element);
  }
}

Row RankRecording::row_of(const CourseItem &item, const Moment &moment) {
  const CallRule &rule = program_.rules()[item.number].call;
  const std::vector<uint32_t> &donated = program_.donor_calls(item, donor_);
  Row row;
  size_t place = 0;
  if (!donated.empty()) {
    // In the order in which the donor made them, or in that of its turns.
    place =
        rule.by_innermost ? static_cast<size_t>(moment.turn[0]) % program_.donor_turns(item) : drawn_[item.number]++;
    row = program_.catalogue().calls()[donated[place % donated.size()]];
  }
  const CallKind &kind = program_.catalogue().kinds()[item.call];
  row.function = kind.function;
  row.depth = kind.depth;
  row.fields.resize(rule.fields.size());
  Moment steady;
  steady.of = moment.of;
  for (size_t f = 0; f < rule.fields.size(); ++f) {
    const FieldRule &field = rule.fields[f];
    if (field.kind == FieldRule::Kind::drawn) continue;
    if (field.kind == FieldRule::Kind::same) {
      row.fields[f] = field.value;
    } else {
      fill(field, field.turning ? moment : steady, &row.fields[f]);
    }
  }
  receive_what_is_sent(item, moment, place, &row);
  row.site = local_site(kind.site);
  renumber(
      &row, [&](uint32_t site) { return local_site(site); }, [](uint32_t module) { return module; });
  return row;
}

uint32_t RankRecording::symbol_of(const CourseItem &item, const Moment &moment) {
  const bool steady = !program_.rules()[item.number].call.turning();
  if (steady) {
    const auto known = steady_.find(item.number);
    if (known != steady_.end()) return known->second;
  }
  ByteWriter packed;
  trace::pack_row(row_of(item, moment), packed);
  const ByteView view = packed.view();
  const auto [entry, fresh] =
      symbols_.try_emplace(std::string(view.begin(), view.end()), static_cast<uint32_t>(sequence_.rows.size()));
  if (fresh) {
    sequence_.rows.push_back(packed.take());
    kind_of_symbol_.push_back(item.call);
  }
  if (steady) steady_[item.number] = entry->second;
  return entry->second;
}

trace::ProcessRecord RankRecording::record() {
  sequence_.sites.assign(1, trace::Site{});
  rules_.emplace_back();
  Moment moment;
  moment.of = &of_;
  Body whole;
  append(program_.course().list, moment, &whole);
  rules_[0] = std::move(whole);
  trace::ProcessRecord process;
  process.rank = static_cast<uint32_t>(of_.rank);
  process.size = static_cast<uint32_t>(of_.ranks);
  const trace::Trace &largest = *program_.largest().trace;
  process.host = largest.rank_info(donor_).host;
  process.modules = program_.catalogue().modules();
  const bool stacks =
      std::any_of(sequence_.sites.begin(), sequence_.sites.end(), [](const auto &s) { return s.caller != 0; });
  if (stacks) {
    process.frames = largest.all_sites();
    for (trace::Site &frame : process.frames) {
      frame.module = program_.catalogue().module_of(program_.runs() - 1, frame.module);
    }
  }
  if (auto calls = grammar::Grammar::from_rules(std::move(rules_))) sequence_.calls = *std::move(calls);
  // What differs from turn to turn stands there turn by turn.
  if (written_out_ > kMostWrittenOut) sequence_.calls = grammar::Grammar::from_symbols(sequence_.calls.expand());
  if (times_ != nullptr && times_->known()) {
    const std::vector<uint64_t> often = sequence_.calls.multiplicities();
    for (size_t s = 0; s < sequence_.rows.size(); ++s) {
      sequence_.stats.push_back(times_->stats(kind_of_symbol_[s], often[s], static_cast<double>(of_.scale)));
      process.mpi_ns += sequence_.stats.back().sum;
    }
    for (const auto &[site, local] : local_sites_) {
      const std::optional<timing::GapStats> gaps = times_->gaps(site, static_cast<double>(of_.scale));
      if (!gaps || !peers_.tells_first(site)) continue;
      sequence_.gaps.resize(sequence_.sites.size());
      sequence_.gaps[local] = *gaps;
    }
    process.wall_ns = process.mpi_ns + times_->outside_ns(static_cast<double>(of_.scale));
  }
  process.sequences.push_back(std::move(sequence_));
  return process;
}

}  // namespace cairn::extrapolate
