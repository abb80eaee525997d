// The folder that a generated program is written to: a new one, an empty one, or one that holds nothing but an earlier
// program that was generated, whose files are then replaced. Nothing else is ever overwritten or deleted.
//
// Plain functions; cost: the files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/generate.h"

namespace cairn::proxy {

/// An environment error if it may not be written to.
Result<void> may_write(const std::string &folder);
Result<void> write_folder(const std::string &folder, const std::vector<ProxyFile> &files);

}  // namespace cairn::proxy
