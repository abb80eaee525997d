// The streams of one part of a program as variables: what opens them, with the rules and the values of each variant,
// and what fields differ in shape from rank to rank.
//
// Borrows the class. One thread. Cost: the values and terms of the streams that are asked for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proxy/columns.h"
#include "proxy/fields.h"
#include "proxy/program.h"
#include "trace/model/class_part.h"

namespace cairn::proxy {

/// What a field is, as far as its values are written by it.
struct FieldMeaning {
  const spec::Parameter *parameter = nullptr;  ///< nullptr: a count, or what the call returned
  bool is_file = false;                        ///< its texts are names of files
};

/// The name of a file of the program as it is called now.
std::string scratch_name(std::string_view recorded);

class Streams {
 public:
  Streams(Program *program, const trace::ClassPart &part, const analyze::RowScope &scope, Columns *columns,
          Source *tables, Identifiers *names)
      : program_(*program), part_(part), scope_(scope), columns_(*columns), tables_(*tables), names_(*names) {}

  /// The variable of the stream that a group's field has become; `wanted`: to name it by.
  std::string variable(const trace::Stream &stream, const FieldMeaning &meaning, const std::string &wanted, bool stays);
  /// An expression of the field that this table has on the rank.
  std::string chosen(const trace::ValuesColumn &values, const FieldMeaning &meaning, const std::string &wanted);
  /// A stream whose values are told here: one sequence for each rank of the class, of pairs of atoms.
  std::string pairs(const std::vector<std::vector<std::pair<trace::Atom, trace::Atom>>> &by_rank,
                    const std::string &wanted);
  /// The one of `order` grammars, one a rank, whose symbols are the values.
  std::string plain(const trace::ValuesColumn &grammars, const std::string &wanted);

  /// "static void open_streams(void) { … }"; nothing if there are none.
  [[nodiscard]] std::string opening() const;
  [[nodiscard]] bool empty() const { return lines_.empty(); }

 private:
  void value(const std::string &variable, const FieldView &view, const FieldMeaning &meaning, Columns *columns,
             std::vector<std::string> *out);
  void packed_value(const std::string &variable, const Bytes &packed, const FieldMeaning &meaning,
                    std::vector<std::string> *out);
  std::string flush(const std::string &variable, std::vector<std::string> *atoms, size_t width);
  std::string opened(const std::string &order, const FieldMeaning &meaning, bool differences, bool stays);
  std::string order(const std::string &variable, const grammar::Grammar &order);
  void register_names(const FieldMeaning &meaning, const trace::StreamVariant &variant);
  void name_made(const FieldMeaning &meaning, trace::Atom made);
  void select(const std::vector<trace::Atom> &variant_of, std::vector<std::vector<std::string>> bodies);

  Program &program_;
  const trace::ClassPart &part_;
  const analyze::RowScope &scope_;
  Columns &columns_;
  Source &tables_;
  Identifiers &names_;
  std::map<const void *, std::string> known_;
  std::map<std::string, std::string> known_orders_;
  std::vector<std::string> variables_;
  std::vector<std::string> lines_;
};

/// The function of a part that says which handles a number of the trace means: "long long NAME(long long made)".
std::string handle_numbers(const Program &program, spec::Kind kind, const analyze::RowScope &scope,
                           const std::string &name);

}  // namespace cairn::proxy
