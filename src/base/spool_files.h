// The files of a spool: what processes of a recording leave where `cairn record` or `cairn merge` finds it.
//
// Each kind has an ending and begins with bytes of its own: Cairn deletes no file that it does not know by both. What a
// process leaves is called `<host>.<pid>.<ending>`, with numbers before the ending where it leaves several. While a
// file is written `.partial` stands behind its name; nothing need be in it yet.
#pragma once

#include <string_view>

namespace cairn {

/// Of the folder that Cairn makes for itself within the one that the user names, and in which all of these lie.
inline constexpr std::string_view kSpoolFolder = "cairn-spool-";

inline constexpr std::string_view kPartEnding = ".part";          ///< a process's recording; begins with a SpoolHeader
inline constexpr std::string_view kEpilogueEnding = ".epilogue";  ///< its calls after MPI_Finalize; likewise
inline constexpr std::string_view kSegmentEnding = ".segment";    ///< a sequence that it spilled; likewise
inline constexpr std::string_view kTimingEnding = ".timing";      ///< times of a thread's calls
inline constexpr std::string_view kArenaEnding = ".arena";        ///< its memory, while it runs or since it was killed
inline constexpr std::string_view kGpuEnding = ".gpu";            ///< its GPU kernels, while it runs, too
inline constexpr std::string_view kAloneEnding = ".alone";        ///< a line: its job is not to merge within MPI
inline constexpr std::string_view kReasonEnding = ".unrecorded";  ///< a line: why it was not recorded
inline constexpr std::string_view kLostEnding = ".lost";          ///< a line: why nothing is left if it is killed
inline constexpr std::string_view kTraceEnding = ".cairn";        ///< the trace of a job that merged itself
inline constexpr std::string_view kPartialEnding = ".partial";

inline constexpr std::string_view kPartMagic = "CAIRNPRT";
inline constexpr std::string_view kTimingMagic = "CAIRNTIM";
inline constexpr std::string_view kGpuMagic = "cairn gpu 2\n";
inline constexpr std::string_view kReasonMagic = "cairn: ";

}  // namespace cairn
