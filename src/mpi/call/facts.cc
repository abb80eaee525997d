#include "mpi/call/facts.h"

#include <dlfcn.h>

#include <cstring>

#include "spec/abi.h"
#include "spec/ids.h"
#include "trace/values/atom.h"

namespace cairn::recorder {
namespace {

using spec::Direction;
using spec::Effect;
using spec::Function;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;

namespace constant_id = spec::constant_id;

LocalValues local;
constexpr auto &values = local.constants;

void resolve_constants(void *library) {
  local.handle_size = static_cast<uint32_t>(mpi::handle_size);
  local.status_size = static_cast<uint32_t>(mpi::status_size);
  for (size_t id = 0; id < constant_id::kCount; ++id) {
    if (!abi_has_constant[id]) continue;
    if (abi_constant_form[id] == AbiConstant::number) {
      values[id] = {abi_constant[id], true};
      continue;
    }
    // The executable may hold a copy of the object (a copy relocation), and then everybody means that one: global scope
    // first.
    const void *symbol = dlsym(RTLD_DEFAULT, abi_constant_symbol[id]);
    if (symbol == nullptr) symbol = dlsym(library, abi_constant_symbol[id]);
    if (symbol == nullptr) continue;
    uint64_t word = reinterpret_cast<uint64_t>(symbol) + abi_constant[id];
    if (abi_constant_form[id] == AbiConstant::variable) memcpy(&word, symbol, sizeof word);
    values[id] = {word, true};
  }
}

/// Of a field of spec::Function that names a parameter: its index, -1 for none.
int8_t index_of(uint8_t one_up) { return static_cast<int8_t>(one_up - 1); }

/// A memo compares raw arguments only, so whatever the call reads or writes behind a pointer must be covered otherwise.
void decide_memo(const Function &function, FunctionFacts &facts) {
  facts.memo = MemoKind::none;
  if (function.returns != spec::ReturnKind::error_code && function.returns != spec::ReturnKind::wall_time) return;
  const bool waits = facts.requests >= 0 && function.completed == 0;
  const bool polls = facts.requests >= 0 && function.completed != 0 && function.answer != 0;
  MemoKind memo = MemoKind::plain;
  uint16_t compared = 0;
  uint16_t outputs = 0;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &p = function.parameters[i];
    const auto bit = static_cast<uint16_t>(1U << i);
    if (p.layout == Layout::none) continue;
    // A request's value comes back for another request at once.
    if ((p.kind == Kind::request || p.kind == Kind::message) && p.passing == Passing::value) return;
    if (p.passing == Passing::value && (p.effect == Effect::none)) {
      compared |= bit;
    } else if (p.passing == Passing::buffer && p.effect == Effect::none) {
      compared |= bit;
    } else if (static_cast<int>(i) == facts.request) {
      memo = MemoKind::request;
    } else if (static_cast<int>(i) == facts.requests && waits) {
      memo = MemoKind::wait;
    } else if (static_cast<int>(i) == facts.requests && polls) {
      memo = MemoKind::poll;
    } else if (polls && p.direction == Direction::out && p.passing == Passing::array) {
      compared |= bit;  // empty as long as nothing completed
    } else if (static_cast<int>(i) == facts.status && (p.passing == Passing::pointer || waits)) {
      compared |= bit;  // the pointer may be MPI_STATUS_IGNORE
      if (memo == MemoKind::plain) memo = MemoKind::status;
    } else if (p.direction == Direction::out && p.passing == Passing::pointer && p.layout == Layout::integer &&
               p.effect == Effect::none && !p.valid && !p.capacity && !p.may_be_null) {
      outputs |= bit;
    } else {
      return;
    }
  }
  if (function.nonblocking && memo != MemoKind::request) return;
  facts.memo = memo;
  facts.waits = waits;
  for (unsigned i = 0; i < spec::kMaxParameters; ++i) {
    compared_arguments[function.id].mask[i] = (compared >> i & 1) != 0 ? UINT64_MAX : 0;
  }
  facts.outputs = outputs;
}

FieldPlan plan_of(const Parameter &p) {
  if (p.layout == Layout::none) return FieldPlan::nothing;
  const bool one_handle = p.layout == Layout::handle && p.passing == Passing::pointer && p.pointer_domain == 0 &&
                          p.kind != Kind::request && p.kind != Kind::message;
  if (one_handle && p.direction == Direction::inout) return FieldPlan::held;
  const bool makes = p.effect == Effect::create || p.effect == Effect::lookup;
  if (one_handle && p.direction == Direction::out && makes && !p.valid) return FieldPlan::made;
  if (p.effect != Effect::none) return FieldPlan::general;
  if (p.passing == Passing::buffer) {
    if (p.keeps_raw) return FieldPlan::general;
    const bool opaque = p.kind == Kind::attribute || p.kind == Kind::extra_state || p.kind == Kind::address;
    return p.layout == Layout::address && !opaque ? FieldPlan::buffer : FieldPlan::general;
  }
  if (p.passing != Passing::value) return FieldPlan::general;
  if (p.layout == Layout::integer) return FieldPlan::integer;
  if (p.layout == Layout::comm) return FieldPlan::comm;
  return p.layout == Layout::handle ? FieldPlan::handle : FieldPlan::general;
}

/// Requests and messages come and go without an epoch.
bool follows_from_value(const Parameter &p, FieldPlan plan) {
  if (p.significant || p.kind == Kind::request || p.kind == Kind::message) return false;
  return plan == FieldPlan::integer || plan == FieldPlan::comm || plan == FieldPlan::handle ||
         plan == FieldPlan::buffer;
}

bool ends_objects(const Parameter &p) {
  return p.effect == Effect::release || p.effect == Effect::complete || p.effect == Effect::consume ||
         p.effect == Effect::unmap_memory;
}

FunctionFacts facts_of(const Function &function) {
  FunctionFacts facts{};
  facts.request = facts.requests = facts.request_count = facts.request_in = facts.message = -1;
  facts.status = facts.count = facts.datatype = -1;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &p = function.parameters[i];
    const auto here = static_cast<int8_t>(i);
    if (p.kind == Kind::request) {
      if (p.effect == Effect::create || p.effect == Effect::create_if) facts.request = here;
      if (p.effect == Effect::complete) facts.requests = here;
      if (p.passing == Passing::value) facts.request_in = here;
    }
    if (p.kind == Kind::message && p.effect == Effect::consume) facts.message = here;
    if (p.kind == Kind::status && p.direction == Direction::out) facts.status = here;
    if (p.kind == Kind::array_length && p.passing == Passing::value) facts.request_count = here;
  }
  if (facts.requests < 0) facts.request_count = -1;
  facts.index = index_of(function.completed);
  facts.receives = function.status_tells == spec::StatusTells::message;
  facts.transfers_file = function.status_tells == spec::StatusTells::bytes;
  facts.tells_outcome = facts.receives || facts.transfers_file || facts.requests >= 0 || facts.request_in >= 0;
  facts.source = index_of(function.asked_source);
  facts.tag = index_of(function.asked_tag);
  if (function.asked_buffer != 0 && function.parameters[function.asked_buffer - 1].times_parameter == 0) {
    const Parameter &buffer = function.parameters[function.asked_buffer - 1];
    facts.count = index_of(buffer.count_parameter);
    facts.datatype = index_of(buffer.type_parameter);
  }
  facts.placing = !spec::varies_by_chance(function);
  facts.read_before = function.any_read_before;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    facts.read_before = facts.read_before || static_cast<bool>(function.parameters[i].capacity);
  }
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    facts.plan[i] = plan_of(function.parameters[i]);
    if (facts.plan[i] == FieldPlan::general || facts.plan[i] == FieldPlan::held) facts.saves = true;
    const bool conditional = facts.plan[i] != FieldPlan::general && facts.plan[i] != FieldPlan::nothing;
    if (conditional && function.parameters[i].significant) facts.conditional |= static_cast<uint16_t>(1U << i);
    if (follows_from_value(function.parameters[i], facts.plan[i])) facts.copied |= static_cast<uint16_t>(1U << i);
    facts.releases = facts.releases || function.parameters[i].effect == Effect::release;
    facts.ends_objects = facts.ends_objects || ends_objects(function.parameters[i]);
  }
  decide_memo(function, facts);
  return facts;
}

}  // namespace

FunctionFacts function_facts[spec::function_id::kCount];
ComparedArguments compared_arguments[spec::function_id::kCount];

bool prepare_facts(void *library, mpi::Constants *constants) {
  resolve_constants(library);
  for (const Function &function : spec::functions()) function_facts[function.id] = facts_of(function);
  constants->comm_world = values[constant_id::k_COMM_WORLD].word;
  constants->comm_self = values[constant_id::k_COMM_SELF].word;
  constants->comm_null = values[constant_id::k_COMM_NULL].word;
  constants->errors_return = values[constant_id::k_ERRORS_RETURN].word;
  constants->errors_are_fatal = values[constant_id::k_ERRORS_ARE_FATAL].word;
  constants->integer = values[constant_id::k_INT].word;
  constants->least = values[constant_id::k_MIN].word;
  constants->byte = values[constant_id::k_BYTE].word;
  constants->uint64 = values[constant_id::k_UINT64_T].word;
  constants->sum = values[constant_id::k_SUM].word;
  return constants->comm_world != 0 && constants->comm_self != 0 && constants->byte != 0;
}

const LocalValues &local_values() { return local; }

bool enter_predefined(HandleTable &handles) {
  bool entered[256] = {};
  for (const Function &function : spec::functions()) {
    for (unsigned i = 0; i < function.parameter_count; ++i) {
      const Parameter &p = function.parameters[i];
      const bool handle = spec::is_handle(p.layout);
      if (!handle || p.domain == 0 || entered[p.domain]) continue;
      entered[p.domain] = true;
      for (const uint16_t id : spec::domain(p.domain)) {
        if (!values[id].present || handles.find(p.kind, values[id].word) != nullptr) continue;
        HandleEntry *entry = handles.add(p.kind, values[id].word);
        if (entry == nullptr) return false;
        entry->constant = static_cast<int16_t>(id);
      }
    }
  }
  handles.set_null_request(values[constant_id::k_REQUEST_NULL].word);
  return true;
}

bool local_constant(uint16_t id, uint64_t *value) {
  if (id >= constant_id::kCount || !values[id].present) return false;
  *value = values[id].word;
  return true;
}

int constant_of(uint8_t domain, uint64_t value) { return local.constant_of(domain, value); }

bool is_null_handle(const HandleEntry &entry) {
  return entry.constant >= 0 && spec::constants()[static_cast<size_t>(entry.constant)].null_handle;
}

size_t element_size(const Parameter &parameter) { return local.element_size(parameter); }

uint64_t element_word(const Parameter &parameter, const void *array, size_t index) {
  return local.element_word(parameter, array, index);
}

}  // namespace cairn::recorder
