#include "mpi/finish/times_in_place.h"

#include <memory>
#include <span>

#include "blocks/dense.h"
#include "mpi/finish/comm_calls.h"
#include "trace/file/file.h"
#include "trace/file/rank_block.h"

namespace cairn::recorder {
namespace {

/// Nothing if the rank has no times, or no memory for the few bytes of the block's own, which `*failed` tells.
std::unique_ptr<trace::RankBlock> block_of(const trace::Part *part, bool *failed) {
  *failed = false;
  if (part == nullptr) return nullptr;
  try {
    return std::make_unique<trace::RankBlock>(*part);
  } catch (...) {
    *failed = true;
    return nullptr;
  }
}

/// The part still holds the times if this fails: then they are in the trace twice.
void forget_times(trace::Part *part, uint64_t offset) {
  try {
    part->times_lie_at(offset);
  } catch (...) {
  }
}

}  // namespace

uint64_t write_times_in_place(const Run &run, mpi::Handle comm, trace::Part *part, const std::string &path) {
  bool failed = false;
  std::unique_ptr<trace::RankBlock> block = block_of(part, &failed);
  const uint64_t own = block == nullptr ? 0 : block->size();
  enum Word { bytes, least, failures, kWords };
  uint64_t words[kWords] = {own, run.rank == 0 ? run.config.blocks_from : 0, failed ? 1U : 0U};
  if (!mpi::sum(comm, words, kWords)) return 0;
  const uint64_t mean = words[bytes] / static_cast<uint64_t>(run.size);
  if (words[bytes] == 0 || mean < words[least] || words[failures] != 0) return 0;

  const std::span<const ByteView> pieces = block == nullptr ? std::span<const ByteView>() : block->pieces();
  const blocks::Dense result = blocks::write_dense(calls_of(&comm, run.rank), path.c_str(), blocks::Target::fresh,
                                                   trace::kHeaderBytes, words[bytes], pieces);
  block.reset();  // views into the part
  if (!result.written) return 0;
  if (own != 0) forget_times(part, result.begin);
  return words[bytes];
}

}  // namespace cairn::recorder
