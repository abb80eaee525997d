// The log's bytes, shared by the writer (log.cc) and the reader: little-endian, as the machine writes them.
//
// A file is a Header, `constants` pairs of 64-bit words (permanent id, local value), then records: a 32-bit length and
// that many bytes; a length of 0 ends the log (what follows is unused room). A record's payload is
//
//   varint function, varint depth, varint begin ticket, varint end ticket, varint epoch + 1 (0: not known), byte
//   RecordState, then values: byte parameter (kReturn: the result; kMembers + i: of a new communicator, its size,
//   smallest rank and this process's place), byte Tag | kAfter, and
//     value, pointer, special   8 bytes
//     values, pointers, handles varint n, n times 8 bytes
//     statuses                  varint n, 5 n times 8 bytes
//     string                    varint length, bytes
//     strings                   varint n, n times (varint length + 1, bytes) or (0) for NULL
//     argvs                     varint n, n times (varint m, m strings as above), m strings of one list
//     null                      nothing
//     errors                    varint n, n times 8 bytes code, 8 bytes class
#pragma once

#include <cstdint>

namespace cairn::oracle {

constexpr char kMagic[8] = {'C', 'A', 'I', 'R', 'N', 'L', 'O', 'G'};
constexpr uint32_t kLogVersion = 3;
constexpr uint8_t kReturn = 0xff;
constexpr uint8_t kMembers = 0x40;
constexpr uint8_t kAfter = 0x80;

enum class RecordState : uint8_t {
  returned,  ///< the call came back
  left,      ///< an exception or longjmp left through it
  open,      ///< written when it began; void if another record has the same begin ticket
};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t thread;  ///< of this process, in order of first call
  int32_t rank;     ///< in MPI_COMM_WORLD, -1 if never known
  int32_t size;     ///< of MPI_COMM_WORLD
  uint64_t pid;
  uint32_t cut_short;  ///< 1: memory or disk ran out, the log ends early
  uint32_t constants;
  uint32_t recorded_thread;  ///< which of the trace's threads it is (part of)
  uint32_t unused;
  char host[64];
  char job[64];  ///< what tells one MPI_COMM_WORLD from another, as far as the launcher says
};
static_assert(sizeof(Header) == 176);

}  // namespace cairn::oracle
