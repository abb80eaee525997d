#include "analyze/sizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "analyze/counts.h"
#include "analyze/type_parts.h"

namespace cairn::analyze {
namespace {

/// Types of one size, with a blank behind each.
constexpr std::pair<int64_t, std::string_view> kPredefined[] = {
    {0, "MPI_DATATYPE_NULL MPI_LB MPI_UB "},
    {1,
     "MPI_CHAR MPI_SIGNED_CHAR MPI_UNSIGNED_CHAR MPI_BYTE MPI_PACKED MPI_INT8_T MPI_UINT8_T MPI_C_BOOL "
     "MPI_CXX_BOOL MPI_CHARACTER MPI_INTEGER1 MPI_LOGICAL1 "},
    {2, "MPI_SHORT MPI_UNSIGNED_SHORT MPI_INT16_T MPI_UINT16_T MPI_INTEGER2 MPI_LOGICAL2 MPI_REAL2 "},
    {4,
     "MPI_WCHAR MPI_INT MPI_UNSIGNED MPI_FLOAT MPI_INT32_T MPI_UINT32_T MPI_LOGICAL MPI_INTEGER "
     "MPI_REAL MPI_INTEGER4 MPI_LOGICAL4 MPI_REAL4 MPI_COMPLEX4 "},
    {6, "MPI_SHORT_INT "},
    {8,
     "MPI_LONG MPI_UNSIGNED_LONG MPI_LONG_LONG MPI_LONG_LONG_INT MPI_UNSIGNED_LONG_LONG MPI_DOUBLE "
     "MPI_INT64_T MPI_UINT64_T MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX MPI_CXX_FLOAT_COMPLEX MPI_AINT "
     "MPI_OFFSET MPI_COUNT MPI_DOUBLE_PRECISION MPI_COMPLEX MPI_INTEGER8 MPI_LOGICAL8 MPI_REAL8 "
     "MPI_COMPLEX8 MPI_2INT MPI_FLOAT_INT MPI_2INTEGER MPI_2REAL "},
    {12, "MPI_LONG_INT MPI_DOUBLE_INT "},
    {16,
     "MPI_LONG_DOUBLE MPI_C_DOUBLE_COMPLEX MPI_CXX_DOUBLE_COMPLEX MPI_DOUBLE_COMPLEX MPI_INTEGER16 "
     "MPI_LOGICAL16 MPI_REAL16 MPI_COMPLEX16 MPI_2DOUBLE_PRECISION MPI_2COMPLEX "},
    {20, "MPI_LONG_DOUBLE_INT "},
    {32, "MPI_C_LONG_DOUBLE_COMPLEX MPI_CXX_LONG_DOUBLE_COMPLEX MPI_COMPLEX32 MPI_2DOUBLE_COMPLEX "},
};

}  // namespace

std::optional<int64_t> predefined_size(std::string_view name) {
  const std::string word = std::string(name) + " ";
  for (const auto &[size, types] : kPredefined) {
    for (size_t at = types.find(word); at != std::string_view::npos; at = types.find(word, at + 1)) {
      if (at == 0 || types[at - 1] == ' ') return size;
    }
  }
  return std::nullopt;
}

bool Sizes::is_creator(const spec::Function &function) {
  const std::string_view name = function.name;
  if (name.starts_with("MPI_Type_size")) return true;
  if (name == "MPI_Comm_size") return true;
  if (!function.creates) return false;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.effect == spec::Effect::none || parameter.direction == spec::Direction::in) continue;
    if (parameter.kind == spec::Kind::datatype || parameter.kind == spec::Kind::comm) return true;
  }
  return false;
}

bool Sizes::is_creator(uint32_t function) {
  static const std::vector<bool> all = [] {
    std::vector<bool> creators;
    for (const spec::Function &each : spec::functions()) creators.push_back(is_creator(each));
    return creators;
  }();
  return function < all.size() && all[function];
}

Sizes::Sizes(uint32_t world_size, const std::vector<SelectedCalls::Sequence> &calls) : world_size_(world_size) {
  for (const SelectedCalls::Sequence &sequence : calls) {
    // They are in order of their rows' first occurrence, so a type stands before the types made of it.
    for (const trace::CountedRow &call : sequence.calls) {
      if (is_creator(call.row.function)) learn(call.row, *sequence.scope);
    }
  }
}

bool Sizes::lacks_members() const {
  return std::any_of(communicators_.begin(), communicators_.end(), [](const auto &each) { return !each.second; });
}

void Sizes::learn_members(const CommunicatorSizes &members, uint32_t rank) {
  for (auto &[name, size] : communicators_) {
    if (!size && name.special == 0) size = members.of(rank, name.number);
  }
}

bool Sizes::see(const trace::Row &row, const RowScope &scope) {
  changed_ = false;
  learn(row, scope);
  return changed_;
}

void Sizes::learn(const trace::Row &row, const RowScope &scope) {
  const RowAccess access(row, scope);
  if (!access.succeeded()) return;
  const std::string_view name = base_function(*access.function());
  if (name.starts_with("MPI_Type_size")) {
    if (const auto type = access.handle("datatype")) add(datatypes_, *type, access.number("size"), Evidence::query);
  } else if (name == "MPI_Comm_size") {
    if (const auto comm = access.handle("comm")) add(communicators_, *comm, access.number("size"), Evidence::query);
  } else if (const auto type = access.handle("newtype")) {
    add(datatypes_, *type, derived(access), Evidence::creation);
  } else {
    for (const char *output : {"newcomm", "comm_cart", "comm_graph", "comm_dist_graph", "newintracomm"}) {
      if (const auto comm = access.handle(output)) add(communicators_, *comm, created(access), Evidence::creation);
    }
    // MPI_Comm_size gives an intercommunicator's local side, but data goes to the other: better unknown.
    if (const auto comm = access.handle("newintercomm")) communicators_[*comm] = -1;
  }
}

void Sizes::add(std::map<HandleName, std::optional<int64_t>> &table, const HandleName &name,
                std::optional<int64_t> size, Evidence evidence) {
  const auto [place, fresh] = table.emplace(name, size);
  if (in_order_) {
    const bool known = evidence == Evidence::creation ? place->second == size : place->second || !size;
    changed_ = changed_ || (fresh ? evidence == Evidence::query : !known);
    if (!known) place->second = size;
    return;
  }
  if (fresh) return;
  if (evidence == Evidence::query && !place->second) {
    place->second = size;
  } else if (place->second != size) {
    // Names were reused, by objects of different or of unknown sizes.
    place->second = -1;
  }
}

std::optional<int64_t> Sizes::datatype(const HandleName &name) const {
  if (name.special != 0 && trace::special_code(name.special) >= trace::kFirstConstant) {
    static const std::vector<std::optional<int64_t>> by_constant = [] {
      std::vector<std::optional<int64_t>> sizes;
      for (const spec::Constant &each : spec::constants()) sizes.push_back(predefined_size(each.name));
      return sizes;
    }();
    const size_t id = trace::special_code(name.special) - trace::kFirstConstant;
    return id < by_constant.size() ? by_constant[id] : std::nullopt;
  }
  const auto found = datatypes_.find(name);
  return found == datatypes_.end() || found->second.value_or(-1) < 0 ? std::nullopt : found->second;
}

std::optional<uint64_t> Sizes::bytes(const RowAccess &row, const char *count, const char *datatype) const {
  const auto elements = row.number(count);
  const auto handle = row.handle(datatype);
  if (elements && *elements == 0) return 0;
  const int64_t size = handle ? this->datatype(*handle).value_or(-1) : -1;
  int64_t all = 0;
  if (!elements || *elements < 0 || size < 0 || __builtin_mul_overflow(*elements, size, &all)) return std::nullopt;
  // The messages of a partitioned request have a count each.
  if (const auto partitions = row.number("partitions")) {
    if (*partitions < 0 || __builtin_mul_overflow(all, *partitions, &all)) return std::nullopt;
  }
  return static_cast<uint64_t>(all);
}

std::optional<int64_t> Sizes::communicator(const HandleName &name) const {
  if (name.special != 0 && trace::special_code(name.special) >= trace::kFirstConstant) {
    const size_t id = trace::special_code(name.special) - trace::kFirstConstant;
    const auto all = spec::constants();
    const std::string_view text = id < all.size() ? all[id].name : "";
    if (text == "MPI_COMM_WORLD") return world_size_;
    if (text == "MPI_COMM_SELF") return 1;
    return std::nullopt;
  }
  const auto found = communicators_.find(name);
  return found == communicators_.end() || found->second.value_or(-1) < 0 ? std::nullopt : found->second;
}

std::optional<int64_t> Sizes::derived(const RowAccess &row) const {
  if (base_function(*row.function()) == "MPI_Type_match_size") return row.number("size");
  const auto parts = type_parts(row);
  if (!parts) return std::nullopt;
  int64_t all = 0;
  for (const TypePart &part : *parts) {
    const auto size = datatype(part.type);
    const auto bytes = size ? product(part.count, *size) : std::nullopt;
    if (!bytes || __builtin_add_overflow(all, *bytes, &all)) return std::nullopt;
  }
  return all;
}

std::optional<int64_t> Sizes::created(const RowAccess &row) const {
  const std::string_view name = row.function()->name;
  if (name.starts_with("MPI_Comm_dup") || name.starts_with("MPI_Comm_idup")) {
    const auto comm = row.handle("comm");
    return comm ? communicator(*comm) : std::nullopt;
  }
  if (name == "MPI_Cart_create") {
    const auto extents = row.numbers("dims");
    return extents ? product(*extents) : std::nullopt;
  }
  if (name == "MPI_Graph_create") return row.number("nnodes");
  if (name.starts_with("MPI_Dist_graph_create")) {
    const auto comm = row.handle("comm_old");
    return comm ? communicator(*comm) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace cairn::analyze
