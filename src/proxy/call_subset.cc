#include "proxy/call_parts.h"

namespace cairn::proxy {
namespace {

bool takes_others(std::string_view function) {
  return function.find("eighbor") != std::string_view::npos || function.find("Intercomm") != std::string_view::npos;
}

}  // namespace

// ---- programs that have not all ranks of the recording

std::optional<std::string> CallWriter::along_ranks(
    const Slot &slot, const std::function<std::optional<Atom>(uint32_t rank, Atom atom)> &value) {
  const std::vector<uint32_t> &ranks = columns_.ranks();
  const std::vector<Atom> atoms =
      slot.column == nullptr ? std::vector<Atom>(ranks.size(), slot.atom) : slot.column->expand();
  std::vector<Atom> all(ranks.size(), 0);
  std::optional<Atom> first;
  uint32_t first_rank = 0;
  for (size_t i = 0; i < ranks.size() && i < atoms.size(); ++i) {
    if (!program_.kept->has(ranks[i])) continue;
    const auto found = value(ranks[i], atoms[i]);
    if (!found) return std::nullopt;
    if (!first) first_rank = ranks[i];
    if (!first) first = found;
    all[i] = *found;
  }
  // Those that are left out have whatever suits a simple law: the same, or as far from the rank.
  for (const bool moves : {false, true}) {
    const auto law = [&](size_t i) {
      return *first - (moves ? static_cast<Atom>(first_rank) : 0) + (moves ? static_cast<Atom>(ranks[i]) : 0);
    };
    bool holds = first.has_value() && !trace::is_special(*first);
    for (size_t i = 0; holds && i < ranks.size(); ++i) holds = !program_.kept->has(ranks[i]) || all[i] == law(i);
    for (size_t i = 0; holds && i < ranks.size(); ++i) all[i] = law(i);
    if (holds) break;
  }
  return columns_.value(all);
}

void CallWriter::refuse(const std::string &why) { scope_.problems->push_back(fmt::format("{} {}", where(), why)); }

void CallWriter::subset() {
  const std::string_view name = function_.name;
  if (program_.kept == nullptr) return;
  if (takes_others(name)) return refuse("needs all ranks");
  std::optional<std::string> members;
  for (size_t i = 0; i < function_.parameter_count && !members; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (parameter.kind != Kind::comm || parameter.direction == Direction::out || fields_[i].slots.empty()) continue;
    members = along_ranks(fields_[i].slots[0], [this](uint32_t rank, Atom comm) -> std::optional<Atom> {
      if (const auto found = program_.kept->members_of(rank, comm)) return static_cast<Atom>(*found);
      return std::nullopt;
    });
  }
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (parameter.direction == Direction::out || fields_[i].absent()) continue;
    if (parameter.kind == Kind::rank_range) return refuse("names ranks of a group");
    if (parameter.kind == Kind::rank && row_.function != spec::function_id::Type_create_darray) {
      if (parameter.passing != Passing::value) return refuse("names ranks of a group");
      if (!members) return refuse("names a rank, of which is not known who it is");
      if (function_.collective) {
        if (function_.persistent) return refuse("would start nothing where its root is left out");
        condition_ = fmt::format("is_kept({}, {})", *members, arguments_[i]);
      }
      arguments_[i] = fmt::format("kept_rank({}, {})", *members, arguments_[i]);
    }
    const bool for_each = parameter.kind == Kind::count || parameter.kind == Kind::displacement ||
                          parameter.kind == Kind::datatype || parameter.kind == Kind::typemap_displacement;
    if (function_.collective && parameter.passing == Passing::array && for_each && function_.scope != 0) {
      if (!members) return refuse("has a value for each rank, of which is not known who it is");
      const std::string type = element_type(parameter.ctype);
      arguments_[i] = fmt::format("kept_array({}, {}, sizeof({}))", *members, arguments_[i], type);
    }
  }
}

bool CallWriter::without_topology() {
  if (program_.kept == nullptr) return false;
  if (asks_topology(function_.name)) {
    passed_over_ = "asks about a topology";
    return true;
  }
  if (!makes_topology(function_.name) || !succeeded_) return false;
  // What it made is made by who was in it.
  size_t made = function_.parameter_count - 1U;
  const FieldView &view = fields_[made];
  const Slot null{trace::kNull, nullptr};
  const Slot &slot = view.dynamic() || view.slots.empty() ? null : view.slots[0];
  const auto told = [&](bool color) {
    return along_ranks(slot, [this, color](uint32_t rank, Atom comm) -> std::optional<Atom> {
      if (trace::is_special(comm)) return color ? trace::constant_atom(spec::constant_id::k_UNDEFINED) : 0;
      const auto place = program_.kept->place(rank, comm);
      if (!place) return std::nullopt;
      return color ? place->first : place->second;
    });
  };
  const auto color = told(true);
  const auto key = told(false);
  if (!color || !key || view.dynamic()) {
    refuse("makes a communicator, of which is not known who is in it");
    return false;
  }
  arguments_.assign(function_.parameter_count, "0");
  for (const size_t i : {size_t{0}, made}) argument(i);
  out_.call =
      fmt::format("MPI_Comm_split({}, (int)({}), (int)({}), {});", arguments_[0], *color, *key, arguments_[made]);
  if (scope_.turns) out_.before.insert(out_.before.begin(), "turn();");
  return true;
}

}  // namespace cairn::proxy
