// SpoolHeader: what stands before Part::serialise() bytes in a spool file (*.part, *.epilogue, *.segment).
//
// Written by a recorder that cannot merge through MPI (`--merge after`, an abort, calls after MPI_Finalize) or needs
// room (segments), read by `cairn record` and `cairn merge`, which join files whose headers belong to one job. Plain
// values; no iostreams, no exceptions, so that the injected recorder may use it. Little-endian.
//
//   "CAIRNPRT", u32 version, u32 kind, u64 job, u64 start (unix ns), u32 rank, u32 size,
//   then varint-length-prefixed texts: host, command, mpi, recorder, timing, status, launcher's job, spawned by
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace cairn {

/// The status of a process that asked MPI something (MPI_Initialized, say) and never initialised it. A launcher may be
/// one.
inline constexpr const char *kNotInitialised = "MPI was not initialised";

struct SpoolHeader {
  static constexpr uint32_t kVersion = 3;
  enum class Kind : uint32_t {
    main = 0,      ///< a process's recording up to MPI_Finalize, or to its end
    epilogue = 1,  ///< only what came after MPI_Finalize, to be appended to a finished trace
    segment = 2,   ///< a sequence that left memory while its thread recorded on
  };
  Kind kind = Kind::main;
  uint64_t job = 0;            ///< when rank 0 began, as its trace says it (unix ns); 0: not known to this process
  uint64_t start_unix_ns = 0;  ///< when the job began, on this process's clock
  uint32_t rank = 0;
  uint32_t size = 1;  ///< of MPI_COMM_WORLD
  std::string host;
  std::string command;
  std::string mpi;
  std::string recorder;
  std::string timing;
  std::string status;
  std::string launcher_job;  ///< these two as trace::RunInfo has them
  std::string spawned_by;
};

/// The header's bytes; the part's bytes follow.
Bytes write_spool_header(const SpoolHeader &header);

/// Reads a header and leaves `in` at the first byte of the part. Fails on anything else than a header of this version.
Result<SpoolHeader> read_spool_header(ByteReader &in);

}  // namespace cairn
