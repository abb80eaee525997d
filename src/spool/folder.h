// The folder in which the processes of a recording leave what `cairn record` or `cairn merge` is to make a trace of.
//
// The user names a place, or it is OUTPUT.spool. In that place Cairn makes a folder of its own, `cairn-spool-XXXXXX`
// with a new name each time, that nobody else may enter: so nothing that lay there before is taken for a recording's,
// and nothing else can be in the way or be removed. A file is Cairn's if it is a regular file of this user, is called
// as Cairn calls its files and begins as they do (base/spool_files.h); no other is ever deleted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::spool {

struct Folder {
  std::string path;                 ///< of Cairn's own
  std::vector<std::string> around;  ///< folders that had to be made for it, the outermost first
};

/// A new folder in `place`, which is made where it is missing.
Result<Folder> make_folder(const std::string &place);
/// One that several commands share (`cairn exec`, once for each process of a job): `name` in `place`.
Result<Folder> share_folder(const std::string &place, std::string_view name);
/// Removes the folder, and what had to be made for it, as far as nothing lies in them.
void remove_if_empty(const Folder &folder);

/// Cairn's own folders in `place` in which something lies, in order of their names; none but `place` itself if that is
/// one. A link is no such folder.
std::vector<std::string> own_folders(const std::string &place);

enum class Owner {
  cairn,     ///< made by Cairn for this user
  stranger,  ///< another user's: nothing in it is to be trusted
  unknown,   ///< not known as Cairn's
};
Owner owner_of(const std::string &file);

/// Deletes the file if it is Cairn's.
void remove_own(const std::string &file);

}  // namespace cairn::spool
