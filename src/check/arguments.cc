#include "check/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cairn::check {
namespace {

bool is_of_comm(std::string_view name) {
  return name == "dest" || name == "source" || name == "root" || name == "rank";
}

}  // namespace

std::string argument_fault(const analyze::RowAccess &access, const analyze::Sizes &sizes) {
  const spec::Function &function = *access.function();
  std::string text;
  const auto say = [&](const spec::Parameter &parameter, int64_t value, const std::string &why) {
    text += fmt::format("{}{} is {}{}", text.empty() ? "" : ", ", parameter.name, value, why);
  };
  const auto comm = access.handle("comm");
  const int64_t members = comm ? sizes.communicator(*comm).value_or(INT64_MAX) : INT64_MAX;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.direction != spec::Direction::in) continue;
    if (parameter.kind == spec::Kind::count) {
      const auto values = access.numbers(parameter.name);
      if (!values) continue;
      const auto negative = std::find_if(values->begin(), values->end(), [](int64_t value) { return value < 0; });
      if (negative != values->end()) say(parameter, *negative, "");
    } else if (parameter.passing == spec::Passing::value &&
               (parameter.kind == spec::Kind::tag || parameter.kind == spec::Kind::rank)) {
      const auto value = access.number(parameter.name);
      if (!value) continue;  // a constant
      const bool of_comm = parameter.kind == spec::Kind::rank && is_of_comm(parameter.name);
      if (*value < 0) {
        say(parameter, *value, "");
      } else if (of_comm && *value >= members) {
        say(parameter, *value, fmt::format(" in a communicator of {}", members));
      }
    }
  }
  return text;
}

}  // namespace cairn::check
