// Options of a file: hints of the MPI_Info that it is created or opened with, else of the environment.
//
//   hint             environment            what
//   cairn_codec      CAIRN_ARRAYS_CODEC     a codec or "auto" (array_codec.h); "off" leaves new files as they are;
//   words for
//                                           variables by name may stand in front: "T=zfp-lossy:0.01,mask=zstd,auto"
//   cairn_layout     CAIRN_ARRAYS_LAYOUT    dense, sparse or hybrid
//   cairn_split      CAIRN_ARRAYS_SPLIT     bytes of values in a block at most
//   cairn_chain      CAIRN_ARRAYS_CHAIN     most blocks of earlier time steps that one may be coded against, 0 to 255,
//                                           or "auto": as many as pay (references.h)
//   cairn_index      CAIRN_ARRAYS_INDEX     blocks in a segment of the index, at most (arrays/file/segment.h)
//   cairn_ratio      CAIRN_ARRAYS_RATIO     expected ratio of original to compressed (hybrid)
//   cairn_error      CAIRN_ARRAYS_ERROR     how far the ratio may be off (hybrid)
//
// A word that means nothing is an error: one line, and PnetCDF's NC_EINVAL from create or open.
#pragma once

#include <mpi.h>

#include <optional>

#include "arrays/file/codec_words.h"
#include "arrays/file/physical.h"
#include "arrays/file/references.h"
#include "arrays/file/segment.h"
#include "base/result.h"

namespace cairn::arrays {

struct FileOptions {
  CodecWords codecs;
  Storage storage = Storage::dense;
  uint64_t split = 1 << 20;
  std::optional<uint32_t> chain;  ///< nothing: as many as pay
  IndexSizes index;
  double ratio = 1;
  double error = 0;

  /// Of one of so many ranks, in a file that has so many blocks.
  [[nodiscard]] Chain chain_of(uint64_t ranks, uint64_t blocks) const;
};

Result<FileOptions> read_options(MPI_Info info);

}  // namespace cairn::arrays
