// What both forms of export share: the pieces of a compressed file in which anything was written.
#pragma once

#include <string>

#include "arrays/file/stored_file.h"
#include "base/result.h"

namespace cairn::array_tool {

/// Bytes in memory at a time.
constexpr uint64_t kWindow = uint64_t{4} << 20;

/// The first byte at or behind `offset` that any block holds; UINT64_MAX if there is none.
uint64_t next_written(const arrays::Index &index, uint64_t offset);

/// Writes a netCDF-4 file at `path`, which must not be there or may be replaced. `deflate`: 0 to 9. Error: also if this
/// build has no libnetcdf.
Result<void> export_netcdf4(const arrays::StoredFile &file, const std::string &path, int deflate);

}  // namespace cairn::array_tool
