// BundleStore: the bundles of classes (trace/file/bundle.h) that this rank took out of parts on their way up the tree,
// until all ranks write theirs into the file that is to become the trace, each its own, in parallel (src/blocks).
//
// They wait in a file in the spool, so that memory stays what one merge needs; where there is no spool, or no room in
// it, in memory. Where a rank does not see the trace's file, or cannot write to it, all send their bundles to the root,
// which writes one after the other: nothing is lost, and the root never holds more than one.
//
// One of each process, in MPI_Finalize. Only `add` throws (no memory).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "mpi/call/mpi_calls.h"
#include "mpi/store/run.h"

namespace cairn::recorder {

class BundleStore {
 public:
  BundleStore(const Run &run, mpi::Handle comm) : run_(run), comm_(comm) {}
  BundleStore(const BundleStore &) = delete;
  BundleStore &operator=(const BundleStore &) = delete;
  ~BundleStore();

  void add(Bytes bundle);
  [[nodiscard]] uint64_t bytes() const { return stored_ + kept_bytes_; }

  /// Collective over the recorder's communicator; the words of the root count, which knows how much all ranks have in
  /// `total`. Behind the header's place of the file `path` lie `blocks` bytes (0: there is no file); the bundles follow
  /// them. False, and errno, on the root if they could not be written; then the file is gone. No rank has any after
  /// this.
  bool write(const std::string &path, uint64_t blocks, uint64_t total);

 private:
  void drop();
  /// What lies in the spool's file, as long as it is open.
  ByteView mapped();
  bool write_together(const std::string &path, uint64_t blocks, uint64_t total, bool *written);
  bool write_by_root(const std::string &path, uint64_t blocks);
  void send_to_root();

  const Run &run_;
  mpi::Handle comm_;  ///< the recorder's own
  int file_ = -1;
  void *map_ = nullptr;
  std::vector<uint64_t> sizes_;  ///< of those in the file, in order
  uint64_t stored_ = 0;          ///< bytes in it
  std::vector<Bytes> kept_;      ///< in memory
  uint64_t kept_bytes_ = 0;
};

}  // namespace cairn::recorder
