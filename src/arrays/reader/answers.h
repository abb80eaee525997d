// What the C library's calls would give of the file that PnetCDF alone would have written: -1 and errno where they
// fail. Any thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>

#include "arrays/reader/plain_view.h"

namespace cairn::arrays {

ssize_t answer(int error, size_t got);
/// read
ssize_t read_from(PlainView &view, void *data, size_t size);
/// pread
ssize_t read_from(PlainView &view, off_t at, void *data, size_t size);
/// preadv; `at` < 0: readv, from where the file stands.
ssize_t read_pieces(PlainView &view, off_t at, const iovec *pieces, int count);
/// lseek
off_t seek(PlainView &view, off_t by, int from);
/// mmap: a mapping of its own, filled with the bytes. Who maps a file that is open for reading cannot write to it.
void *map(PlainView &view, void *address, size_t size, int protection, int flags, off_t at);

}  // namespace cairn::arrays
