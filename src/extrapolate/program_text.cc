#include "extrapolate/program_text.h"

#include <fmt/format.h>

#include "extrapolate/row_parts.h"

namespace cairn::extrapolate {
namespace {

std::string text_of(const AtomRule &rule) { return rule.kind == AtomRule::Kind::law ? rule.law.text() : "drawn"; }

std::string text_of(const std::vector<AtomRule> &atoms) {
  std::string text;
  for (const AtomRule &atom : atoms) text += (text.empty() ? "" : ", ") + text_of(atom);
  return text;
}

bool constant(const FieldRule &rule) {
  if (rule.kind == FieldRule::Kind::same) return true;
  if (rule.kind != FieldRule::Kind::atoms || rule.shapes.size() != 1) return false;
  for (const AtomRule &atom : rule.shapes[0]) {
    if (atom.kind != AtomRule::Kind::law || !atom.law.is_constant()) return false;
  }
  return true;
}

std::string text_of(const FieldRule &rule) {
  switch (rule.kind) {
    case FieldRule::Kind::list:
      return fmt::format("{} elements of ({})", rule.length.text(), text_of(rule.element));
    case FieldRule::Kind::atoms: {
      if (rule.shapes.size() == 1) return text_of(rule.shapes[0]);
      std::string text = fmt::format("form {}:", rule.shape.text());
      for (const auto &shape : rule.shapes) text += fmt::format(" ({})", text_of(shape));
      return text;
    }
    default:
      return "drawn";
  }
}

void add(const Program &program, const std::vector<CourseItem> &list, size_t depth, std::vector<std::string> *lines) {
  const std::string indent(2 * depth, ' ');
  for (const CourseItem &item : list) {
    const ItemRule &rule = program.rules()[item.number];
    const std::string count = rule.count ? rule.count->text() : "drawn";
    lines->push_back(fmt::format("{}{}{}", indent, item.is_loop() ? "loop" : program.catalogue().text(item.call),
                                 count == "1" ? std::string() : fmt::format(", {} times", count)));
    for (size_t f = 0; f < rule.call.fields.size(); ++f) {
      if (constant(rule.call.fields[f])) continue;
      const spec::Parameter *parameter = parameter_of(program.catalogue().kinds()[item.call].function, f);
      lines->push_back(fmt::format("{}    {}: {}{}", indent, parameter == nullptr ? "return" : parameter->name,
                                   text_of(rule.call.fields[f]), rule.call.fields[f].turning ? " (by turn)" : ""));
    }
    add(program, item.body, depth + 1, lines);
  }
}

}  // namespace

std::vector<std::string> laws_of(const Program &program) {
  std::vector<std::string> lines;
  add(program, program.course().list, 0, &lines);
  return lines;
}

}  // namespace cairn::extrapolate
