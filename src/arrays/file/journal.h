// Journal: what a writer notes of its blocks beside them, so that they are found when the job ends before it has
// written an index.
//
// A record of the journal is written with the blocks that it tells of, by the same rank, before the call returns. It
// begins with the number of the session: random, drawn by each job that opens the file for writing, and named in the
// file's header until the file is closed (arrays/file/physical.h). So records are found by looking for that number, and
// those of earlier sessions are not taken for new ones. docs/arrays.md has the bytes.
//
// Any thread may call any function here.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "arrays/file/index.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::arrays {

/// Offsets of the blocks count from a base, 0 until `set_base` says otherwise. `user_codecs`: names, as in an index.
Bytes journal_record(uint64_t session, std::span<const Block> blocks, std::span<const std::string> user_codecs);
/// Changes the base of a record; no other bytes change their place.
void set_base(std::span<uint8_t> record, uint64_t base);

struct JournalRecord {
  std::vector<Block> blocks;
  std::vector<std::string> user_codecs;
};
/// Calls `found` for each whole record of a session within these bytes of a file, in file order. Holes are not read.
/// Cost: reads the rest of it once, 4 MiB at a time. Error: the file cannot be read.
Result<void> read_journal(int file, uint64_t session, Run where, const std::function<void(JournalRecord)> &found);

}  // namespace cairn::arrays
