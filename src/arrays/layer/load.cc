#include "arrays/layer/load.h"

#include <cstdio>
#include <cstring>

#include "arrays/file/stored_file.h"
#include "arrays/file/writer_lock.h"
#include "arrays/layer/messages.h"

namespace cairn::arrays {

void say(const std::string &path, const std::string &what) {
  fprintf(stderr, "cairn arrays: %s: %s\n", path.c_str(), what.c_str());
}

void say(const std::string &path, const Error &error) {
  say(path, error.message + (error.hint.empty() ? "" : "; " + error.hint));
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::string plain_path(const char *path) {
  const char *colon = strchr(path, ':');
  return colon == nullptr ? path : colon + 1;
}

Found load(MPI_Comm comm, const char *path, bool writing, Opening *opening) {
  uint64_t said[7] = {static_cast<uint64_t>(Found::plain)};
  Bytes bytes;
  if (rank_in(comm) == 0) {
    const std::string file = plain_path(path);
    // What PnetCDF refuses, too, is left to it.
    const bool is_compressed = StoredFile::recognises(file);
    if (is_compressed && writing) opening->lock = WriterLock(file);
    if (opening->lock.state() == WriterLock::State::refused) {
      say(path, kRefused);
      said[0] = static_cast<uint64_t>(Found::refused);
    } else if (is_compressed) {
      const Result<StoredFile> stored = StoredFile::open(file, StoredFile::Take::as_needed);
      if (stored) {
        bytes = pack_for_others(stored->index());
        said[0] = static_cast<uint64_t>(Found::compressed);
        said[1] = stored->index_place().offset;
        said[2] = stored->index_place().size;
        said[3] = stored->index_place().checksum;
        said[4] = stored->data_end();
        said[5] = stored->unlisted().blocks;
        said[6] = number_of(stored->index_place().storage);
        if (writing && !stored->closed() && opening->lock.state() == WriterLock::State::unknown) {
          say(path,
              "it was not closed, and this file system has no locks to tell whether a job still writes to it; if "
              "none does, 'cairn arrays recover' it");
          said[0] = static_cast<uint64_t>(Found::damaged);
        }
        if (said[5] != 0) {
          say(path,
              "it was not closed: " + std::to_string(said[5]) + " blocks were found that its index does not name");
        }
      } else {
        say(path, stored.error());
        said[0] = static_cast<uint64_t>(Found::damaged);
      }
    }
  }
  MPI_Bcast(said, 7, MPI_UINT64_T, 0, comm);
  const auto found = static_cast<Found>(said[0]);
  if (found != Found::compressed) return found;
  if (share(&bytes, comm) != MPI_SUCCESS) return Found::damaged;
  Result<Index> unpacked = unpack_of_others(bytes);
  if (!unpacked) return Found::damaged;
  opening->index = std::move(*unpacked);
  opening->place = {said[1], said[2], said[3], 0, storage_of(said[6])};
  opening->data_end = said[4];
  opening->unlisted = said[5] != 0;
  return Found::compressed;
}

}  // namespace cairn::arrays
