// The physical file: a CDF-5 header with a scalar for each variable, and everything compressed behind it as one
// variable of unsigned bytes, so that any NetCDF tool opens the file and shows what is in it. Who reads without Cairn
// must not take the scalars for values: they have names of their own ("T.cairn" for T), and hold the fill value.
//
// Tools copy the file, with a header of another length where they like: so all places count from where the variable of
// bytes begins. A global attribute says where that was when they were written.
//
// A global attribute of fixed size says where the index is (arrays/file/index.h). The file is complete whenever that
// attribute names a complete index; what it named before stays in place until then. A second one names the session of
// the job that writes to the file, until it closes it (arrays/file/journal.h), and the layout that was asked for; files
// of Cairns that knew no sessions lack it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays/file/header.h"
#include "arrays/file/index.h"

namespace cairn::arrays {

constexpr const char *kMarker = "_Cairn_arrays";  ///< attribute of the file
constexpr const char *kWriter = "_Cairn_writer";  ///< attribute of the file
constexpr const char *kBegin = "_Cairn_begin";    ///< attribute of the file: where data began when it was written
constexpr const char *kNote = "_Cairn_note";      ///< attribute of the file, for people
constexpr const char *kShape = "_Cairn_shape";    ///< attribute of a variable: names of its dimensions

/// Where blocks go (docs/arrays.md, "Three layouts").
enum class Storage : uint8_t { dense, sparse, hybrid };
/// As files and messages tell it, 0 where it is not known; and back.
uint64_t number_of(const std::optional<Storage> &storage);
std::optional<Storage> storage_of(uint64_t number);

/// The index, and what else the header says of how the file was written.
struct IndexPlace {
  uint64_t offset = 0;  ///< where it is now
  uint64_t size = 0;
  uint64_t checksum = 0;
  std::optional<uint64_t> session = 0;            ///< 0: the file was closed; nothing: it tells of no session
  std::optional<Storage> storage = std::nullopt;  ///< of the last writer, if the file tells
  /// How much further everything lies than when it was written, modulo 2^64: a tool has copied the file.
  uint64_t moved = 0;
  /// Written by a Cairn that gave scalars the names of the variables, and did not tell where data began.
  bool earlier = false;
};

/// An attribute of the virtual file that has a name of ours, as "attribute '_Cairn_shape' of 'T'": who reads the
/// physical file would take it for what Cairn says. Nothing: there is none.
std::optional<std::string> with_our_name(const Header &virtual_header);

/// The variable that holds all compressed bytes; nullptr: a tool left it out, or changed its type.
const Variable *data_of(const Header &physical);

/// The index of a file, if its header has the mark, and of a format that is known here.
std::optional<IndexPlace> marked(const Header &physical);
/// Whether a header without a mark that can be read had one: it is damaged, or of a newer Cairn.
bool ours(const Header &physical);

/// The header of the physical file that holds the virtual one. Compressed bytes and indexes are from `data_begin` to
/// `data_end`. Always of the same size for the same virtual header, if it tells of a session and is not of an earlier
/// Cairn.
Bytes physical_header(const Header &virtual_header, const IndexPlace &index, uint64_t data_begin, uint64_t data_end);

/// What a tool has changed in a physical header since it was written as `expected`: a line each, as in "attribute
/// 'units' of 'T.cairn' was changed". Places aside.
std::vector<std::string> changes(const Header &physical, const Header &expected);

/// How much room to leave for the header, so that attributes may be added later: data begins there.
uint64_t room_for_header(const Header &virtual_header, uint64_t alignment);

}  // namespace cairn::arrays
