// Walks the body of one device function or lambda in the order in which it runs: puts a point at every decision and
// tells Flow which can follow which. Where no point can stand (in macros, in initialisers that run before any kernel,
// in constant expressions) it walks on for the flow's sake, and warns once for each such place that would have had
// points.
//
// Every edit encloses whole expressions or statements, as the compiler delimits them: edits nest as the code does.
#pragma once

#include <map>

#include "gpu/instrument/program.h"

namespace cairn::instrument {

/// Points and flow of all device functions that the survey found.
void put_points(Program &program);
/// For the emulator without points: in each loop a place where others get their turn, since lanes may spin.
void put_turns(Program &program);

class BodyWalker {
 public:
  BodyWalker(Program &program, size_t file, std::string function)
      : program_(program), source_(program.sources[file]), file_(file), function_(std::move(function)) {}

  /// `body` is what stands in braces; `initialisers` are a constructor's.
  void function(const std::string &key, uint32_t name_offset, CXCursor body, const std::vector<CXCursor> &initialisers,
                const std::string &prologue);

 private:
  Program &program_;
  Source &source_;
  const size_t file_;
  const std::string function_;
  int current_ = Flow::kNone;  ///< where control is
  std::vector<int> breaks_;    ///< where `break` and `continue` lead
  std::vector<int> continues_;
  struct Switch {
    int head;
    bool has_default;
  };
  std::vector<Switch> switches_;
  std::map<std::string, int> labels_;
  /// Why no points can be put here; without a reason, there is nothing to tell.
  struct Mute {
    uint32_t offset;
    std::string reason;
  };
  std::vector<Mute> mutes_;
  /// What has its point: lists in braces are visited twice.
  std::set<std::pair<uint32_t, Kind>> put_;

  /// Of what stands in the file: what comes out of a macro, or goes into one, has the extent of the macro's call, since
  /// nothing is put into calls.
  [[nodiscard]] Span extent(CXCursor cursor) const;

  // Statements.
  void statement(CXCursor cursor);
  void if_statement(CXCursor cursor);
  void loop(CXCursor cursor);
  void do_loop(CXCursor cursor);
  void switch_statement(CXCursor cursor);
  void label_statement(CXCursor cursor, bool in_braces);
  void goto_label(CXCursor cursor);
  void variable(CXCursor declaration);
  void compound(CXCursor cursor);
  /// A statement out of a macro: nothing can be put there and its parts can't be told apart, so any may follow any.
  void opaque(CXCursor cursor);
  /// What a decision leads to, with a point; `after` is where the token before it ends.
  void arm(CXCursor cursor, uint32_t after, Kind kind, uint32_t shown_at);
  /// The byte after the statement's last, its semicolon included; 0 if that cannot be told.
  [[nodiscard]] uint32_t end_of(CXCursor cursor) const;
  [[nodiscard]] bool is_spelled(CXCursor cursor, std::string_view keyword) const;
  /// The bracket that ends what follows the keyword: a token's number, token_count() if there is none.
  [[nodiscard]] size_t header_end(CXCursor cursor) const;

  // Expressions.
  void expression(CXCursor cursor);
  void spelled_expression(CXCursor cursor);
  void conditional(CXCursor cursor, const std::vector<CXCursor> &parts);
  void binary(const std::vector<CXCursor> &parts);
  void called(CXCursor cursor);
  void value(CXCursor cursor);
  void lambda(CXCursor cursor);

  // Accesses to memory (accesses.cc).
  /// Of an lvalue in memory, with a point there.
  void access(CXCursor lvalue, Kind kind);
  /// Of what an argument points to.
  void access_through(CXCursor address, Kind kind);
  /// The point of an access that spans so much, or -1; and the end of what encloses it.
  int begin_access(const Span &span, Kind kind, uint32_t offset, const char *word);
  void end_access(const Span &span, int put);
  void parts_of_place(CXCursor lvalue);
  /// Whether the expression is an access; then it has been walked through.
  bool accessed(CXCursor cursor);
  /// The same of what is taken for a load though no conversion says so: there are none where a template's arguments
  /// decide, and of what `?:` chooses.
  bool loaded(CXCursor operand);
  /// An expression whose value is wanted.
  void operand(CXCursor cursor) {
    if (!program_.accesses || !loaded(cursor)) expression(cursor);
  }
  /// Whether a reference is only bound to memory; then its place has been walked through.
  bool bound(CXCursor reference, CXCursor place);
  /// The same of `part` of a call: what is assigned to by an operator, or what CUDA's functions load, store and change.
  bool accessed_by_call(CXCursor call, CXCursor callee, CXCursor part);
  /// Encloses an expression in `(CAIRN_AT(id), ...)`.
  void enclose(CXCursor cursor, Kind kind);
  void parts_of(CXCursor cursor);

  /// The new point's index, or -1 where none can be put. Control goes through it.
  int point(Kind kind, uint32_t offset, uint32_t shown_at);
  /// As `point`, where control does not go through it yet.
  int place(Kind kind, uint32_t offset, uint32_t shown_at);
  void mute(uint32_t offset, std::string reason) { mutes_.push_back({offset, std::move(reason)}); }
  void mute_macro(uint32_t offset);
  void unmute() { mutes_.pop_back(); }
  /// Both ways go on from one place.
  void meet(int other) {
    if (current_ == Flow::kNone) {
      current_ = other;
    } else if (other != Flow::kNone) {
      current_ = program_.flow.add(current_);
      program_.flow.join(other, current_);
    }
  }
};

}  // namespace cairn::instrument
