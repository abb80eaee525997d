#include "mpi/names/frame_rule.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/bytes.h"

namespace cairn::recorder {
namespace {

constexpr uint64_t kRbp = 6;
constexpr uint64_t kRsp = 7;
constexpr uint64_t kReturnAddress = 16;

// Encodings of pointers (DW_EH_PE_…) as linkers write them.
constexpr uint8_t kPcRelative4 = 0x1b;
constexpr uint8_t kUnsigned4 = 0x03;
constexpr uint8_t kTableRelative4 = 0x3b;

/// Reads what a linker wrote.
class Reader : public ByteReader {
 public:
  Reader(const uint8_t *begin, const uint8_t *end) : ByteReader({begin, end}), begin_(begin) {}
  template <typename T>
  T number() {
    return static_cast<T>(fixed(sizeof(T)));
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const uint8_t next = byte();
      value |= uint64_t{next & 0x7fU} << shift;
      shift += 7;
      if ((next & 0x80) != 0) continue;
      if (shift < 64 && (next & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    return fail();
  }
  Reader part(uint64_t size) {
    const ByteView inner = raw(size);
    return {inner.data(), inner.data() + inner.size()};
  }
  [[nodiscard]] bool more() const { return !failed() && !at_end(); }
  [[nodiscard]] const uint8_t *at() const { return begin_ + position(); }

 private:
  const uint8_t *begin_;
};

/// A record of .eh_frame without its length.
Reader record_at(const uint8_t *start) {
  uint32_t length = 0;
  std::memcpy(&length, start, sizeof length);
  constexpr uint32_t kLong = 0xfffffff0;
  const uint8_t *content = start + sizeof length;
  return {content, content + (length < kLong ? length : 0)};
}

/// What the functions of one compilation unit have in common.
struct Common {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  bool understood = false;
  Reader instructions{nullptr, nullptr};
};

Common read_common(const uint8_t *start) {
  Common common;
  Reader in = record_at(start);
  const auto id = in.number<uint32_t>();
  const auto version = in.byte();
  char letters[8] = {};
  size_t count = 0;
  for (char letter = in.number<char>(); letter != '\0'; letter = in.number<char>()) {
    if (count == sizeof letters - 1) return common;
    letters[count++] = letter;
  }
  common.code_unit = in.varint();
  common.data_unit = in.signed_leb();
  const uint64_t return_column = version == 1 ? in.byte() : in.varint();
  if (id != 0 || (version != 1 && version != 3) || letters[0] != 'z' || return_column != kReturnAddress) return common;
  Reader details = in.part(in.varint());
  bool positions = false;
  for (size_t i = 1; i < count; ++i) {
    if (letters[i] == 'R') {
      positions = details.byte() == kPcRelative4;
    } else if (letters[i] == 'L') {
      details.byte();
    } else if (letters[i] == 'P') {
      const uint8_t size = details.byte() & 0x0f;
      details.part(size == 0 || size == 4 || size == 12 ? 8 : 4);
    } else {
      return common;  // signal frames among them
    }
  }
  common.instructions = in;
  common.understood = positions && !in.failed() && !details.failed();
  return common;
}

struct State {
  FrameRule rule;
  bool returns = true;  ///< the return address lies below the frame
  bool known = true;
};

/// Executes call frame instructions up to one place.
class Machine {
 public:
  Machine(const Common &common, uintptr_t begin, uintptr_t wanted) : common_(common), at_(begin), wanted_(wanted) {}

  bool run(Reader in) {
    while (in.more() && !past_) {
      if (!step(in)) return false;
    }
    return !in.failed();
  }
  void begin_function() { initial_ = state_; }
  [[nodiscard]] FrameRule rule() const { return state_.known && state_.returns ? state_.rule : FrameRule{}; }

 private:
  void advance(uint64_t units) {
    at_ += units * common_.code_unit;
    past_ = at_ > wanted_;
  }
  int64_t scaled(uint64_t factor) const { return static_cast<int64_t>(factor) * common_.data_unit; }

  void frame(uint64_t base, int64_t offset) {
    state_.rule.base = base == kRsp ? FrameRule::rsp : base == kRbp ? FrameRule::rbp : FrameRule::none;
    frame_offset(offset);
  }
  void frame_offset(int64_t offset) { state_.rule.offset = static_cast<int32_t>(offset); }
  void saved(uint64_t column, int64_t offset) {
    if (column == kReturnAddress) state_.returns = offset == -8;
    if (column != kRbp) return;
    state_.rule.saved = FrameRule::at_frame;
    state_.rule.saved_offset = static_cast<int32_t>(offset);
  }
  void lost(uint64_t column) {
    if (column == kReturnAddress) state_.returns = false;
    if (column == kRbp) state_.known = false;
  }
  void restored(uint64_t column) {
    if (column == kReturnAddress) state_.returns = initial_.returns;
    if (column != kRbp) return;
    state_.rule.saved = initial_.rule.saved;
    state_.rule.saved_offset = initial_.rule.saved_offset;
    state_.known = initial_.known;
  }
  /// Only [rbp + n], which is what realigned stacks have.
  void frame_expression(Reader in) {
    state_.rule.base = FrameRule::none;
    if (in.byte() != kBaseRbp) return;
    const int64_t offset = in.signed_leb();
    if (in.byte() != kDereference || in.failed() || in.more()) return;
    state_.rule.base = FrameRule::at_rbp;
    frame_offset(offset);
  }
  void saved_expression(uint64_t column, Reader in) {
    const bool by_rbp = in.byte() == kBaseRbp;
    const int64_t offset = in.signed_leb();
    if (column != kRbp || !by_rbp || in.failed() || in.more()) return lost(column);
    state_.rule.saved = FrameRule::at_old_rbp;
    state_.rule.saved_offset = static_cast<int32_t>(offset);
  }

  bool step(Reader &in) {
    const auto code = in.byte();
    const uint8_t operand = code & 0x3f;
    switch (code >> 6) {
      case 1:
        return advance(operand), true;
      case 2:
        return saved(operand, scaled(in.varint())), true;
      case 3:
        return restored(operand), true;
      default:
        return step_extended(operand, in);
    }
  }

  bool step_extended(uint8_t code, Reader &in) {
    uint64_t column = 0;
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:
        return advance(in.byte()), true;
      case 0x03:
        return advance(in.number<uint16_t>()), true;
      case 0x04:
        return advance(in.number<uint32_t>()), true;
      case 0x05:  // offset_extended
        column = in.varint();
        return saved(column, scaled(in.varint())), true;
      case 0x06:  // restore_extended
        return restored(in.varint()), true;
      case 0x07:  // undefined
        return lost(in.varint()), true;
      case 0x08:  // same_value
        column = in.varint();
        if (column == kRbp) state_.rule.saved = FrameRule::kept;
        return true;
      case 0x09:  // register
        lost(in.varint());
        return in.varint(), true;
      case 0x0a:  // remember_state
        if (depth_ == kMaxDepth) return false;
        return remembered_[depth_++] = state_, true;
      case 0x0b:  // restore_state
        if (depth_ == 0) return false;
        return state_ = remembered_[--depth_], true;
      case 0x0c:  // def_cfa
        column = in.varint();
        return frame(column, static_cast<int64_t>(in.varint())), true;
      case 0x0d:  // def_cfa_register
        return frame(in.varint(), state_.rule.offset), true;
      case 0x0e:  // def_cfa_offset
        return frame_offset(static_cast<int64_t>(in.varint())), true;
      case 0x0f:  // def_cfa_expression
        return frame_expression(in.part(in.varint())), true;
      case 0x10:  // expression
        column = in.varint();
        return saved_expression(column, in.part(in.varint())), true;
      case 0x11:  // offset_extended_sf
        column = in.varint();
        return saved(column, in.signed_leb() * common_.data_unit), true;
      case 0x12:  // def_cfa_sf
        column = in.varint();
        return frame(column, in.signed_leb() * common_.data_unit), true;
      case 0x13:  // def_cfa_offset_sf
        return frame_offset(in.signed_leb() * common_.data_unit), true;
      case 0x16:  // val_expression
        lost(in.varint());
        return in.part(in.varint()), true;
      case 0x2e:  // GNU_args_size
        return in.varint(), true;
      default:
        return false;
    }
  }

  static constexpr uint8_t kBaseRbp = 0x76;      // DW_OP_breg6
  static constexpr uint8_t kDereference = 0x06;  // DW_OP_deref
  static constexpr int kMaxDepth = 8;
  const Common &common_;
  uintptr_t at_;
  uintptr_t wanted_;
  bool past_ = false;
  State state_;
  State initial_;
  State remembered_[kMaxDepth];
  int depth_ = 0;
};

int32_t word_at(const uint8_t *from) { return Reader(from, from + sizeof(int32_t)).number<int32_t>(); }

}  // namespace

FrameRule FrameRule::from_table(const uint8_t *header, uintptr_t instruction) {
  if (header[0] != 1 || header[1] != kPcRelative4 || header[2] != kUnsigned4 || header[3] != kTableRelative4) return {};
  const auto count = static_cast<uint32_t>(word_at(header + 8));
  const uint8_t *table = header + 12;
  const auto start_of = [&](uint32_t i) {
    return reinterpret_cast<uintptr_t>(header) + static_cast<uintptr_t>(int64_t{word_at(table + 8 * size_t{i})});
  };
  uint32_t low = 0;  // the last function that begins at or before the instruction
  for (uint32_t high = count; high - low > 1 && low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    (start_of(middle) <= instruction ? low : high) = middle;
  }
  if (count == 0 || start_of(low) > instruction) return {};
  const uint8_t *function = header + word_at(table + 8 * size_t{low} + 4);
  Reader in = record_at(function);
  const uint8_t *back = in.at();
  const auto distance = in.number<uint32_t>();
  if (in.failed() || distance == 0) return {};
  const Common common = read_common(back - distance);
  if (!common.understood) return {};
  const uint8_t *here = in.at();
  const auto begin =
      reinterpret_cast<uintptr_t>(here) + static_cast<uintptr_t>(static_cast<int64_t>(in.number<int32_t>()));
  const auto size = in.number<uint32_t>();
  in.part(in.varint());
  if (in.failed() || instruction < begin || instruction - begin >= size) return {};
  Machine machine(common, begin, instruction);
  if (!machine.run(common.instructions)) return {};
  machine.begin_function();
  return machine.run(in) ? machine.rule() : FrameRule{};
}

#if defined(__x86_64__)

FrameRule FrameRule::at(uintptr_t instruction) {
  struct Search {
    uintptr_t instruction;
    FrameRule rule;
  } search{instruction, {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto *wanted = static_cast<Search *>(data);
        const uint8_t *header = nullptr;
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = info->dlpi_phdr[i];
          const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && wanted->instruction - start < segment.p_memsz) holds = true;
          if (segment.p_type == PT_GNU_EH_FRAME) header = reinterpret_cast<const uint8_t *>(start);
        }
        if (!holds) return 0;
        if (header != nullptr) wanted->rule = from_table(header, wanted->instruction);
        return 1;
      },
      &search);
  return search.rule;
}

#elif defined(__aarch64__)

// x29 plays rbp: it points at the caller's x29 and, behind that, the return address.
FrameRule FrameRule::at(uintptr_t) { return {rbp, at_old_rbp, 16, 0}; }

#else
#error "how frames follow each other is known for x86-64 and AArch64 only"
#endif

}  // namespace cairn::recorder
