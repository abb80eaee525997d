#include "mpi/names/python_sites.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "mpi/names/mixed.h"

namespace cairn::recorder {
namespace {

/// A program that makes code without end must not use up the memory.
constexpr size_t kMostKnown = 65536;

/// Which string it is, and its last bytes: generated files have names that differ there. Where it has fewer than eight,
/// those before are of the object's head.
uint64_t name_word(const cpython::Unicode &text) {
  const uint8_t *from = cpython::characters(text);
  if (from == nullptr) return 0;
  const size_t size = static_cast<size_t>(text.length) * text.bytes_each();
  uint64_t last = 0;
  std::memcpy(&last, from + size - sizeof last, sizeof last);
  return (reinterpret_cast<uintptr_t>(&text) + size) * kMix ^ last;
}

/// Whether a code object has what is read below.
bool is_whole(const cpython::Code &code) {
  return code.file != nullptr && code.qualified_name != nullptr && code.locations != nullptr &&
         code.locations->size > 0;
}

/// Of what makes the line that stands in the first `known_from` bytes of the table of locations.
uint64_t hash_of(const cpython::Code &code, size_t known_from) {
  const auto size = static_cast<size_t>(code.locations->size);
  const size_t end = std::min(known_from, size);
  const size_t begin = end - std::min(end, PythonSites::kHashed);
  uint64_t seed = size + (static_cast<uint64_t>(code.first_line) << 32);
  for (const cpython::Unicode *name : {code.file, code.qualified_name}) seed = mixed(seed ^ name_word(*name));
  return hash64({code.locations->data + begin, end - begin}, seed);
}

}  // namespace

void PythonSites::look_for_python() {
  if (searched_ || interpreter_ != nullptr) return;
  searched_ = true;
  interpreter_ = cpython::Interpreter::find();
}

Site *PythonSites::find(Site *plain) {
  if (interpreter_ == nullptr) look_for_python();
  constexpr int kMostHidden = 64;  // frames of imports within imports
  const cpython::Loop *innermost = loop();
  const cpython::Frame *frame = innermost == nullptr ? nullptr : innermost->frame;
  for (int i = 0; frame != nullptr && i < kMostHidden; ++i, frame = frame->previous) {
    if (Site *found = site(*frame)) return found;
    if (lost_) return plain;  // not the caller's line instead
  }
  return plain;
}

Site *PythonSites::site(const cpython::Frame &frame) {
  lost_ = false;
  const cpython::Code *code = frame.code;
  if (code == nullptr || code->head.type != interpreter_->code_type || !is_whole(*code)) return nullptr;
  const intptr_t at = frame.place();
  if (at < 0 || at >= code->size) return nullptr;
  Known *known = known_ == nullptr ? nullptr : place(code, frame.instruction);
  if (known != nullptr && known->code != nullptr && known->hash == hash_of(*code, known->known_from)) [[likely]] {
    lost_ = known->lost;
    return known->site;
  }
  Known fresh = {code, frame.instruction, 0, 0, nullptr, false};
  make(*code, static_cast<size_t>(at), &fresh);
  lost_ = fresh.lost;
  if (known != nullptr && known->code != nullptr) {  // another code object has come to its place
    *known = fresh;
    return fresh.site;
  }
  if ((known_ == nullptr || used_ * 2 > mask_) && !grow()) return fresh.site;
  *place(code, frame.instruction) = fresh;
  ++used_;
  return fresh.site;
}

PythonSites::Known *PythonSites::place(const cpython::Code *code, const uint16_t *instruction) {
  size_t at = mixed(reinterpret_cast<uintptr_t>(instruction)) & mask_;
  while (known_[at].code != nullptr && (known_[at].instruction != instruction || known_[at].code != code)) {
    at = (at + 1) & mask_;
  }
  return &known_[at];
}

bool PythonSites::grow() {
  if (known_ != nullptr && mask_ + 1 >= kMostKnown) {
    std::memset(static_cast<void *>(known_), 0, (mask_ + 1) * sizeof *known_);
    used_ = 0;
    return true;
  }
  Known *old = known_;
  const size_t old_size = old == nullptr ? 0 : mask_ + 1;
  const size_t size = old == nullptr ? 64 : old_size * 2;
  auto *grown = arena_.allocate_array<Known>(size);
  if (grown == nullptr) return false;
  known_ = grown;
  mask_ = size - 1;
  for (size_t i = 0; i < old_size; ++i) {
    if (old[i].code != nullptr) *place(old[i].code, old[i].instruction) = old[i];
  }
  if (old != nullptr) arena_.release_array(old, old_size);
  return true;
}

void PythonSites::make(const cpython::Code &code, size_t place, Known *known) {
  const cpython::Line line = cpython::line_of(code, place);
  known->known_from = line.known_from;
  known->hash = hash_of(code, line.known_from);
  known->lost = true;
  if (!cpython::copy_text(*code.file, file_, sizeof file_)) return;
  if (!cpython::copy_text(*code.qualified_name, function_, sizeof function_)) return;
  constexpr const char *kImports = "<frozen importlib";
  if (std::strncmp(file_, kImports, std::strlen(kImports)) == 0) {
    known->lost = false;
    return;
  }
  known->site = modules_.script_site(file_, function_, static_cast<uint64_t>(std::max<int64_t>(line.line, 1)));
  known->lost = known->site == nullptr;
}

}  // namespace cairn::recorder
