// CallWriter: one row of a class as C: the call with its arguments, what must be so before it, and what is kept of it.
//
// What an argument becomes follows from spec/ alone (kind, layout, direction, passing, effect), as in
// src/replay/plan.h, which does the same at run time. Borrows the part of the program that it writes. One thread. Cost:
// the row's atoms.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proxy/columns.h"
#include "proxy/fields.h"
#include "proxy/program.h"
#include "proxy/streams.h"

namespace cairn::proxy {

/// A call as C.
struct Statement {
  std::vector<std::string> before;
  std::string call;  ///< empty: it is not made
  std::vector<std::string> after;
  std::string comment;  ///< where it was made
  [[nodiscard]] bool simple() const { return before.empty() && after.empty() && !call.empty(); }
  [[nodiscard]] bool nothing() const { return before.empty() && after.empty() && call.empty(); }
};

/// What the calls of a class are written with.
struct PartScope {
  Program *program = nullptr;
  const trace::ClassPart *part = nullptr;
  uint32_t class_index = 0;
  analyze::RowScope scope;
  trace::RowGroups groups;
  Columns *columns = nullptr;
  Streams *streams = nullptr;
  bool turns = false;   ///< there are several threads, and their order is known
  bool counts = false;  ///< segments of the heap begin and end between calls, which are counted
  bool drains = false;  ///< out: arrays of requests are remembered
  std::string heard;    ///< the stream of whom receives from anybody heard; empty: there are none
  std::vector<std::string> *problems = nullptr;
};

/// Whether a row makes requests of receives from anybody, or under any tag.
bool posts_wild(const trace::ClassPart &part, const trace::RowGroups &groups, uint32_t row);

Statement write_call(PartScope *scope, uint32_t row);

}  // namespace cairn::proxy
