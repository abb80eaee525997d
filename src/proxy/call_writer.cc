#include "proxy/call_parts.h"

namespace cairn::proxy {

CallWriter::CallWriter(PartScope *scope, uint32_t row)
    : scope_(*scope),
      program_(*scope->program),
      columns_(*scope->columns),
      row_(*scope->part->rows[row]),
      group_(scope->groups.of_row[row]),
      function_(spec::functions()[row_.function]),
      fields_(fields_of(row_)),
      made_where_(program_.sources.position(scope->class_index, row_.site)) {}

Statement CallWriter::write() {
  Statement done = write_all();
  drop_unused(&done);
  const bool always = !std::holds_alternative<trace::Optional>(row_.kind);
  if (always && scope_.counts && !spec::varies_by_chance(function_))
    done.before.insert(done.before.begin(), "next_call();");
  return done;
}

void CallWriter::drop_unused(Statement *of) const {
  for (std::string &line : of->before) {
    for (const std::string_view type : {"const long long ", "struct field *"}) {
      if (!line.starts_with(type)) continue;
      const size_t equals = line.find(" = ");
      const std::string name = line.substr(type.size(), equals - type.size());
      if (!name.ends_with('_')) continue;
      size_t uses = 0;
      for (const auto *lines : {&of->before, &of->after}) {
        for (const std::string &each : *lines) uses += each.find(name) != std::string::npos ? 1 : 0;
      }
      if (uses == 1 && of->call.find(name) == std::string::npos) line = line.substr(equals + 3);
    }
  }
}

Statement CallWriter::write_all() {
  out_.comment = comment_text(made_where_.brief());
  const auto *draining = std::get_if<trace::Draining>(&row_.kind);
  const auto *counted = std::get_if<trace::Counted>(&row_.kind);
  judge();
  if (counted != nullptr) return polls();
  if (draining != nullptr) return drain(*draining);
  if (std::holds_alternative<trace::Optional>(row_.kind)) return optional();
  read_streams();
  make_or_pass_over();
  return std::move(out_);
}

void CallWriter::make_or_pass_over() {
  if (without_topology() && passed_over_.empty()) return;
  if (passed_over_.empty()) {
    make();
    return;
  }
  if (found_nothing_) look_at_array();
  if (scope_.turns) out_.before.insert(out_.before.begin(), "turn();");
}

// ---- what the call is

bool CallWriter::is_constant(unsigned one_more, uint16_t id) const {
  const FieldView &view = field(one_more);
  return view.kind == FieldView::atoms && !view.slots.empty() && view.slots[0].constant() == id;
}

void CallWriter::judge() {
  const FieldView &result = fields_[function_.parameter_count];
  const bool plain = result.kind == FieldView::atoms && !result.slots.empty();
  const bool never = plain && result.slots[0].is(trace::kNoReturn);
  const bool code = function_.returns == spec::ReturnKind::error_code;
  succeeded_ = !code || !plain || result.slots[0].column != nullptr || result.slots[0].is(0) ||
               result.slots[0].is(trace::kImplied);
  if (never) {
    passed_over_ = "never returned";
  } else if (const char *why = analyze::why_not_repeated(function_)) {
    passed_over_ = why;
  }
  const FieldView *answer = function_.answer == 0 ? nullptr : &field(function_.answer);
  if (answer != nullptr && passed_over_.empty() && succeeded_ && answer->kind == FieldView::atoms &&
      !answer->slots.empty() && answer->slots[0].is(0)) {
    passed_over_ = "a poll that found nothing";
    found_nothing_ = true;
  }
  if (passed_over_.empty() && uses_unknown()) passed_over_ = "uses a handle that nobody saw made";
  const std::string_view name = function_.name;
  if (std::string_view(function_.since) > "3.1") program_.newer.insert(function_.name);
  program_.grequests = program_.grequests || name == "MPI_Grequest_start" || name.starts_with("MPIX_Grequest");
}

bool CallWriter::uses_unknown() const {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (!is_handle(parameter) || parameter.direction == Direction::out) continue;
    const FieldView &view = fields_[i];
    if (view.kind == FieldView::atoms && !view.slots.empty() && view.slots[0].is(trace::kUnknown)) return true;
  }
  return false;
}

// ---- fields that change

bool CallWriter::is_needed(size_t i) const {
  if (i >= function_.parameter_count) return false;
  const Parameter &parameter = function_.parameters[i];
  if (parameter.layout == Layout::none) return false;
  if (parameter.direction != Direction::out || parameter.passing == Passing::buffer) return true;
  if (is_handle(parameter) || parameter.kind == Kind::pointer_out) return true;
  if (i + 1U == function_.answer || i + 1U == function_.completed) return true;
  return parameter.layout == Layout::status;
}

FieldMeaning CallWriter::meaning(size_t i) const {
  if (i >= function_.parameter_count) return {};
  const Parameter &parameter = function_.parameters[i];
  return {&parameter, parameter.kind == Kind::string && std::string_view(parameter.name) == "filename"};
}

std::string CallWriter::wanted(const std::string &what) const {
  std::string name = function_.name;
  name = name.substr(name.find('_') + 1);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  return identifier(what + "_" + name + (made_where_.line != 0 ? fmt::format("_{}", made_where_.line) : ""));
}

std::string CallWriter::stream(size_t i, const std::string &name, bool stays) {
  for (const trace::Stream &each : scope_.part->streams) {
    if (each.group != group_ || each.field != i) continue;
    return scope_.streams->variable(each, meaning(i), wanted(name), stays);
  }
  scope_.problems->push_back(fmt::format("{}: {} is in no stream", function_.name, name));
  return "NULL";
}

bool CallWriter::is_single_number(size_t i) const {
  const Parameter &parameter = function_.parameters[i];
  return parameter.passing == Passing::value && !is_handle(parameter) && parameter.layout != Layout::address &&
         parameter.layout != Layout::status && parameter.layout != Layout::string &&
         parameter.layout != Layout::strings;
}

void CallWriter::read_streams(bool by_call, bool by_row) {
  const auto *draining = std::get_if<trace::Draining>(&row_.kind);
  for (size_t i = 0; i < function_.parameter_count && i < fields_.size(); ++i) {
    const FieldView &view = fields_[i];
    const bool each_call = draining != nullptr && i >= draining->first_output;
    if (each_call ? !by_call : !by_row) continue;
    if (!view.dynamic() || !is_needed(i)) continue;
    if (is_out(i) && view.kind == FieldView::table && !passed_over_.empty()) continue;
    const std::string name = function_.parameters[i].name;
    std::string value;
    if (view.kind == FieldView::moved) {
      value = fmt::format("next_field({})", stream(i, name, each_call));
    } else {
      value = scope_.streams->chosen(*view.values, meaning(i), wanted(name));
    }
    const bool used = passed_over_.empty() || (found_nothing_ && is_request_array(i));
    if (!used) {
      if (view.kind == FieldView::moved) out_.before.push_back(value + ";");
      continue;
    }
    if (function_.parameters[i].layout == Layout::error && is_single_number(i)) {
      out_.before.push_back(fmt::format("const long long {}_ = error_in({});", name, value));
    } else if (is_single_number(i)) {
      if (value.starts_with("next_field")) {
        value.replace(0, 10, "next_number");
      } else {
        value = "number_in(" + value + ", 0)";
      }
      out_.before.push_back(fmt::format("const long long {}_ = {};", name, value));
    } else {
      out_.before.push_back(fmt::format("struct field *{}_ = {};", name, value));
    }
  }
}

bool CallWriter::is_out(size_t i) const {
  const Parameter &parameter = function_.parameters[i];
  return parameter.direction == Direction::out && parameter.passing != Passing::buffer;
}

bool CallWriter::is_request_array(size_t i) const {
  return function_.parameters[i].kind == Kind::request && function_.parameters[i].passing == Passing::array;
}

bool posts_wild(const trace::ClassPart &part, const trace::RowGroups &groups, uint32_t row) {
  const spec::Function &function = spec::functions()[part.rows[row]->function];
  if (function.status_tells != spec::StatusTells::message || function.asked_source == 0 || function.persistent ||
      !function.nonblocking) {
    return false;
  }
  const std::vector<FieldView> fields = fields_of(*part.rows[row]);
  const auto may = [&](unsigned one_more, uint16_t constant) {
    return one_more != 0 && may_be(part, groups.of_row[row], one_more - 1, fields[one_more - 1], constant);
  };
  return may(function.asked_source, spec::constant_id::k_ANY_SOURCE) ||
         may(function.asked_tag, spec::constant_id::k_ANY_TAG);
}

Statement write_call(PartScope *scope, uint32_t row) { return CallWriter(scope, row).write(); }

}  // namespace cairn::proxy
