#include "python/convert.h"

#include "terminal/terminal.h"
#include "text/utf8.h"

namespace cairn::python {

void raise(Error error, const std::string &path) {
  if (error.path.empty()) error.path = path;
  const char *kind = "internal";
  if (error.kind == ErrorKind::usage) kind = "usage";
  if (error.kind == ErrorKind::unreadable) kind = "unreadable";
  if (error.kind == ErrorKind::environment) kind = "environment";
  const py::object offset = error.offset == Error::kNoOffset ? py::object(py::none()) : py::int_(error.offset);
  const py::object exception = py::module_::import("cairn.errors")
                                   .attr("of")(text(cli::error_line(error)), kind, text(error.message),
                                               text(error.path), offset, text(error.hint));
  PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
  throw py::error_already_set();
}

py::str text(std::string_view text) { return py::str(valid_utf8(text)); }

py::object value(const analyze::Value &of) {
  using Kind = analyze::Value::Kind;
  switch (of.kind) {
    case Kind::absent:
      break;
    case Kind::integer:
      return py::int_(of.number);
    case Kind::boolean:
      return py::bool_(of.number != 0);
    case Kind::real:
      return py::float_(of.real);
    case Kind::symbol:
    case Kind::string:
      return text(of.text);
    case Kind::list: {
      py::list items;
      for (const analyze::Value &item : of.items) items.append(value(item));
      return items;
    }
    case Kind::change: {
      py::dict change;
      change["before"] = value(of.items[0]);
      change["after"] = value(of.items[1]);
      return change;
    }
    case Kind::record: {
      py::dict record;
      for (size_t i = 0; i < of.items.size(); ++i) record[of.keys[i]] = value(of.items[i]);
      return record;
    }
  }
  return py::none();
}

py::object position(const analyze::Position &of) {
  if (of.module.empty()) return py::none();
  const auto known = [](const std::string &word) { return word.empty() ? py::object(py::none()) : text(word); };
  return py::module_::import("cairn.calls")
      .attr("Site")(known(of.file), of.line == 0 ? py::object(py::none()) : py::int_(of.line), known(of.function),
                    text(of.module), of.offset, text(of.text()));
}

py::list positions(const std::vector<analyze::Position> &of) {
  py::list all;
  for (const analyze::Position &each : of) all.append(position(each));
  return all;
}

int32_t Codes::of(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  names_.emplace_back(name);
  return numbers_.emplace(names_.back(), static_cast<int32_t>(names_.size() - 1)).first->second;
}

py::list Codes::names() const {
  py::list all;
  for (const std::string &name : names_) all.append(text(name));
  return all;
}

py::list numbers(const std::vector<uint32_t> &of) {
  py::list all;
  for (const uint32_t each : of) all.append(each);
  return all;
}

}  // namespace cairn::python
