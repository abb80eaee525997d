// Recovery: a file that was not closed, because its job was killed or did not get that far, is made a closed one.
//
// Opening such a file finds the blocks that its journal tells of (StoredFile); this writes them into an index, in
// place: behind everything that is in the file, and then the header that names it. One thread at a time.
#pragma once

#include <string>

#include "arrays/file/stored_file.h"
#include "base/result.h"

namespace cairn::arrays {

struct Recovery {
  bool was_closed = false;     ///< then nothing was changed
  StoredFile::Unlisted found;  ///< blocks that were not in the index
};
/// Cost: reads the file once. Error: it cannot be opened as a compressed file, or cannot be written to.
Result<Recovery> recover(const std::string &path);

}  // namespace cairn::arrays
