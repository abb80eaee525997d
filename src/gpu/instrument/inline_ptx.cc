// For the emulator: `asm` in device code becomes a call that knows some PTX (ptx_functions.h of the emulator).
#include "gpu/instrument/launches.h"

namespace cairn::instrument {
namespace {

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

/// The parts of `asm(text : outputs : inputs : clobbers)`, as the call's arguments: of operands what stands in
/// brackets.
class AsmStatement {
 public:
  AsmStatement(const Source &source, size_t open, size_t close) {
    std::vector<std::string> *to = &text_;
    size_t section = 0;
    for (size_t i = open + 1; i < close; ++i) {
      const std::string_view word = source.word(i);
      if (word == ":" || word == "::") {
        section += word.size();
        to = section == 1 ? &outputs_ : section == 2 ? &inputs_ : &clobbers_;
      } else if (section != 0 && word == "(") {
        const size_t end = source.closing(i);
        to->emplace_back(source.at({source.token(i).begin, source.token(end).end}));
        i = end;
      } else if (section == 0) {
        to->emplace_back(word);
      }
    }
  }
  [[nodiscard]] std::string call() const {
    std::string out = "::cairn::emulator::ptx(";
    for (const std::string &piece : text_) out += piece + " ";
    out += ", ::cairn::emulator::outputs(";
    for (size_t i = 0; i < outputs_.size(); ++i) out += (i == 0 ? "" : ", ") + outputs_[i];
    out += ")";
    for (const std::string &input : inputs_) out += ", " + input;
    return out + ")";
  }

 private:
  std::vector<std::string> text_;
  std::vector<std::string> outputs_;
  std::vector<std::string> inputs_;
  std::vector<std::string> clobbers_;
};

}  // namespace

void put_ptx(Program &program) {
  std::set<std::pair<size_t, size_t>> done;  // a lambda lies in a function
  for (const Function &function : program.functions) {
    const auto found = program.source_of.find(file_of(function.cursor));
    if (found == program.source_of.end()) continue;
    Source &source = program.sources[found->second];
    const Span whole = span_of(function.cursor);
    for (size_t i = source.token_from(whole.begin); i < source.token_count() && source.token(i).end <= whole.end; ++i) {
      if (!is_asm(source.word(i)) || source.macro_at(source.token(i).begin) != nullptr) continue;
      size_t open = i + 1;
      while (source.word(open) == "volatile" || source.word(open) == "__volatile__") ++open;
      const size_t close = source.word(open) == "(" ? source.closing(open) : source.token_count();
      if (close == source.token_count() || !done.emplace(found->second, i).second) continue;
      source.replace({source.token(i).begin, source.token(close).end}, AsmStatement(source, open, close).call());
      i = close;
    }
  }
}

}  // namespace cairn::instrument
