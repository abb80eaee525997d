// What the verbs of `cairn arrays` say in the same way: types, shapes, ratios, sizes on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/file/header.h"
#include "arrays/file/index.h"
#include "base/result.h"
#include "terminal/options.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {

std::string_view name_of(arrays::NcType type);                                           ///< as in CDL: "float"
std::string shape_text(const arrays::Header &header, const arrays::Variable &variable);  ///< "time 4, lat 90"
std::string codec_text(const arrays::Index &index, uint8_t codec);                       ///< "shuffle+zstd"
/// Bytes of a variable's values, all records.
uint64_t bytes_of(const arrays::Header &header, const arrays::Variable &variable);
std::string ratio_text(uint64_t plain, uint64_t coded);  ///< "2.13"; "-" if nothing was coded
/// "96.0 MiB in 45.1 MiB: 2.13 times smaller".
std::string gain_text(uint64_t plain, uint64_t coded);

/// --codec, --split and --chain. `sizes` ends the help of --split.
void add_coding(cli::Options &verb, std::string *codec, std::string *split, std::string *chain, const char *sizes);
/// "64K", "1M" → bytes. Error: no size, or none that a block can have.
Result<uint64_t> parse_split(const std::string &text);

/// A line for what has changed in the file's header since it was written, if anything has.
void say_changed(const std::string &path, const std::vector<std::string> &changes, cli::Output *out);

/// Error: the file exists already, unless `force`.
Result<void> may_write(const std::string &path, bool force);

}  // namespace cairn::array_tool
