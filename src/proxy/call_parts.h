// CallWriter: one row of a class on its way to a statement of C (call_writer.h). What it does lies in call_writer.cc
// (what the call is, and which of its fields change), call_groups.cc (rows that stand for several calls),
// call_arguments.cc, call_handles.cc, call_values.cc, call_windows.cc and call_subset.cc (what each argument becomes)
// and call_outcomes.cc (what makes it come out as it did).
//
// Borrows the part's scope. Used once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/repeatable.h"
#include "proxy/call_writer.h"
#include "proxy/law.h"
#include "spec/ids.h"

namespace cairn::proxy {

using spec::Direction;
using spec::Effect;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;
using trace::Atom;

constexpr size_t kSpareElements = 256;           ///< behind what a call is known to write
constexpr size_t kStringRoom = size_t{1} << 13;  ///< times 8 bytes

inline bool is_handle(const Parameter &parameter) { return spec::is_handle(parameter.layout); }
/// Its place in memory is what the call is given.
inline bool is_indirect(const Parameter &parameter) {
  return parameter.passing == Passing::pointer || parameter.passing == Passing::array;
}
/// "int" of "const int[]".
std::string element_type(std::string_view ctype);
/// Whether a field is that constant on some rank at some time.
bool may_be(const trace::ClassPart &part, uint32_t group, size_t field, const FieldView &view, uint16_t constant);

class CallWriter {
 public:
  CallWriter(PartScope *scope, uint32_t row);
  Statement write();

 private:
  /// A value that nothing is made of is read all the same.
  void drop_unused(Statement *of) const;
  Statement write_all();
  void make_or_pass_over();

  // What the call is.
  [[nodiscard]] const FieldView &field(unsigned one_more) const { return fields_[one_more - 1]; }
  [[nodiscard]] bool is_constant(unsigned one_more, uint16_t id) const;
  void judge();
  [[nodiscard]] bool uses_unknown() const;

  // Fields that change.
  /// Whether anything is made of a field's values once they have moved.
  [[nodiscard]] bool is_needed(size_t i) const;
  [[nodiscard]] FieldMeaning meaning(size_t i) const;
  [[nodiscard]] std::string wanted(const std::string &what) const;
  std::string stream(size_t i, const std::string &name, bool stays);
  [[nodiscard]] bool is_single_number(size_t i) const;
  /// Declares the fields that change as locals, in their order. `by_call`: of a draining row, those that each call has.
  void read_streams(bool by_call = false, bool by_row = true);
  [[nodiscard]] bool is_out(size_t i) const;
  [[nodiscard]] bool is_request_array(size_t i) const;
  [[nodiscard]] std::string local(size_t i) const { return std::string(function_.parameters[i].name) + "_"; }

  // Calls that stand for several.
  Statement polls();
  [[nodiscard]] std::optional<size_t> request_array() const;
  [[nodiscard]] bool is_drained(size_t i) const;
  void look_at_array();
  /// Adds the requests of such a field to the array; the expression of the place where it is remembered.
  std::string add_drained(size_t i, const std::string &to);
  Statement drain(const trace::Draining &draining);
  Statement optional();

  // The call.
  void make();
  /// Something that other threads may still communicate by.
  [[nodiscard]] bool gives_up() const;
  void keep_returned(std::string *text);
  void fill();
  /// The kind of what a handle of another language stands for: the function's other end.
  [[nodiscard]] int other_end() const;
  [[nodiscard]] static bool is_number_of_handle(Kind kind);
  [[nodiscard]] analyze::HandleName name_of(const Slot &slot, Layout layout) const;
  std::string number(const Slot &slot);
  std::string where() const { return fmt::format("{} at {}", function_.name, made_where_.brief()); }
  void argument(size_t i);
  [[nodiscard]] std::string result(size_t i, size_t count) const;
  void string(size_t i);
  /// A list of strings, as spec/README.md lays it out.
  void strings(size_t i);
  /// Where the file of that name lies now; where it must be there, or must not, that it is so.
  [[nodiscard]] std::string file(const std::string &name) const;
  [[nodiscard]] bool has_mode(std::string_view mode) const;
  /// How many elements an output may have, as far as the other arguments say: a number, and what is added to it.
  [[nodiscard]] std::string room(size_t recorded, size_t words_each) const;
  void output(size_t i);

  // Handles.
  /// For a handle that is not significant: some libraries refuse a null one even so.
  [[nodiscard]] std::string any_of(const Parameter &parameter) const;
  [[nodiscard]] static std::string null_of(Kind kind) { return fmt::format("*{}_null()", kind_word(kind)); }
  /// What a call is given of a handle. `how`: "new", "at", "last" (where it lies), "of" (itself).
  std::string reach(const char *how, const Slot &first, const Slot *second, const Parameter &parameter);
  /// Keeps one that MPI gave.
  std::string keep(const Slot &first, const Slot *second, const Parameter &parameter, const std::string &value);
  std::optional<std::string> single(const Slot &first, const Parameter &parameter);
  /// The queue and place of a handle, as two arguments.
  std::string variable_and_place(const Slot &first, const Slot *second, const Parameter &parameter);
  analyze::HandleName named(const Slot &slot, const Parameter &parameter);
  /// Constants and objects on different ranks.
  [[nodiscard]] static bool is_mixed(const Slot &slot);
  void handle(size_t i);
  static const Slot *second(const FieldView &view) { return view.slots.size() > 1 ? &view.slots[1] : nullptr; }
  /// A field whose atoms are told here.
  std::string literal(const FieldView &view, const Parameter &parameter);
  /// Requests one after the other: runs of places at one call become one statement.
  void add_names(const std::vector<Slot> &slots, size_t from, const Parameter &parameter, const std::string &to);
  void handle_array(size_t i);

  // Addresses.
  std::string place_text(const Slot &kind, const Slot &number_slot, const Slot &offset, bool integer);
  void address(size_t i);

  // Dynamic windows.
  /// What lets a displacement mean the place of the target's memory that it meant.
  void windows();
  [[nodiscard]] std::optional<size_t> parameter_of(Kind kind) const;
  [[nodiscard]] std::string recorded_address(size_t i);

  // Programs that have not all ranks.
  /// Ranks among those that stay, and arrays with an element for each.
  void subset();
  /// Whether the call was written, or is none, since there are no topologies.
  bool without_topology();
  /// An expression of a value for each rank that stays, from what a slot has there.
  std::optional<std::string> along_ranks(const Slot &slot,
                                         const std::function<std::optional<Atom>(uint32_t rank, Atom atom)> &value);
  void refuse(const std::string &why);

  // Statuses.
  /// What statuses would have said, even where the program ignored them (trace/model/status_field.h).
  [[nodiscard]] static FieldView told(const FieldView &view);
  void status(size_t i);

  // Numbers.
  void numbers(size_t i);
  /// The field before, of which this one may be the running sums.
  std::string prefix_of(size_t i);
  void sums(size_t i);
  std::string flags(const FieldView &view, const Parameter &parameter);
  void write_array(const std::string &name, const std::string &type, const std::vector<Slot> &slots, bool changes);
  void flush_runs(const std::string &name, const std::string &type, std::string *list);

  // What did not repeat by itself.
  void force();
  void wait(const std::string &text);
  void completed();
  /// What a generalised request's function is told.
  void expect();
  void outcome();
  enum class Asked : uint8_t { known, wild, either };
  [[nodiscard]] Asked asked(size_t i, uint16_t constant) const;

  PartScope &scope_;
  Program &program_;
  Columns &columns_;
  const trace::ClassRow &row_;
  const uint32_t group_;
  const spec::Function &function_;
  const std::vector<FieldView> fields_;
  const analyze::Position made_where_;
  Statement out_;
  std::vector<std::string> arguments_;
  bool succeeded_ = false;
  bool found_nothing_ = false;
  std::string passed_over_;
  std::string array_;        ///< the variable of its requests
  std::string place_;        ///< where they are remembered
  std::string given_array_;  ///< of a call that is one of several
  std::string given_place_;
  std::string condition_;  ///< only then it found something
  std::string loop_;       ///< it is made until this is not 0
  size_t run_begin_ = 0;
};

}  // namespace cairn::proxy
