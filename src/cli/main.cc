// `cairn`: the table of its verbs.
#include "cli/verbs.h"

namespace cairn::cli {
namespace {

constexpr const char *kRecording = "Recording";
constexpr const char *kTraces = "Traces";
constexpr const char *kGpu = "GPU kernels";
constexpr const char *kArrays = "Arrays";

constexpr Verb kVerbs[] = {
    {.name = "record",
     .group = kRecording,
     .help = "Run a command and record its MPI calls",
     .declare = declare_record,
     .usage = "cairn record [OPTIONS] [--] COMMAND [ARGUMENTS]",
     .behind = Behind::command,
     .runs = "there is no command to run; write it at the end, as in cairn "
             "record -- mpiexec -n 4 ./app"},
    {.name = "exec",
     .group = kRecording,
     .help = "Become a program that is recorded, under a launcher",
     .declare = declare_exec,
     .usage = "LAUNCHER cairn exec [OPTIONS] [--] PROGRAM [ARGUMENTS]",
     .behind = Behind::command,
     .runs = "there is no program to run; write it at the end, as in mpiexec "
             "-n 4 cairn exec -- ./app"},
    {.name = "env",
     .group = kRecording,
     .help = "Print the environment that records a program",
     .declare = declare_env,
     .usage = "cairn env [OPTIONS] [--] [COMMAND]",
     .behind = Behind::command,
     .reads = false},
    {.name = "merge", .group = kRecording, .help = "Join what processes left in a spool", .declare = declare_merge},
    {.name = "peek",
     .group = kRecording,
     .help = "Tell what the ranks of a running program wait in",
     .declare = declare_peek},
    {.name = "doctor",
     .group = kRecording,
     .help = "Check that recording works here",
     .declare = declare_doctor,
     .usage = "cairn doctor [OPTIONS] [--] [COMMAND]",
     .behind = Behind::command,
     .reads = false},
    {.name = "info", .group = kTraces, .help = "Tell what a trace holds", .declare = declare_info},
    {.name = "summary", .group = kTraces, .help = "Sum up calls, bytes and times", .declare = declare_summary},
    {.name = "loops",
     .group = kTraces,
     .help = "Tell what ranks repeat, and what a turn takes",
     .declare = declare_loops},
    {.name = "dump", .group = kTraces, .help = "Print every call with its arguments", .declare = declare_dump},
    {.name = "diff",
     .group = kTraces,
     .help = "Tell what two runs did differently",
     .declare = declare_diff,
     .no = "something differs"},
    {.name = "verify",
     .group = kTraces,
     .help = "Check that a trace is sound",
     .declare = declare_verify,
     .no = "the trace is not sound or differs"},
    {.name = "repack",
     .group = kTraces,
     .help = "Write a trace anew, with its times in another mode or its clocks corrected",
     .declare = declare_repack},
    {.name = "replay",
     .group = kTraces,
     .help = "Make the calls of a trace again, under any MPI",
     .declare = declare_replay,
     .usage = "cairn replay [OPTIONS] [FILE] -- LAUNCHER [ARGUMENTS]",
     .behind = Behind::others,
     .no = "the replay failed"},
    {.name = "proxy",
     .group = kTraces,
     .help = "Write a C program that makes the calls of a trace",
     .declare = declare_proxy},
    {.name = "export",
     .group = kTraces,
     .help = "Write calls as actions for SimGrid, or GPU warps as a timeline",
     .declare = declare_export},
    {.name = "extrapolate",
     .group = kTraces,
     .help = "Make a trace of more ranks from traces of fewer",
     .declare = declare_extrapolate,
     .no = "what was made differs from the recording of --check"},
    {.name = "gpu",
     .group = kGpu,
     .help = "Tell how GPU warps diverged, which code ran, and how small that is",
     .declare = declare_gpu},
    {.name = "instrument",
     .group = kGpu,
     .help = "Put trace points into a CUDA or HIP program",
     .declare = declare_instrument,
     .program = "cairn-instrument",
     .needs = "libclang (libclang-14-dev)",
     .usage = "cairn instrument [OPTIONS] FILE... [-- PARSER OPTIONS]",
     .behind = Behind::others,
     .reads = false},
    {.name = "arrays",
     .group = kArrays,
     .help = "Compress what programs write through PnetCDF, and read it back",
     .declare = nullptr,
     .program = "cairn-arrays",
     .no = "verify found a fault"},
};

}  // namespace
}  // namespace cairn::cli

int main(int argc, char **argv) {
  return cairn::cli::run({.name = "cairn",
                          .about = "Records what a parallel program does and keeps all of it, small.",
                          .footer = "cairn help VERB tells a verb's options. Without a file, "
                                    "verbs read the newest "
                                    ".cairn in the folder.",
                          .verbs = cairn::cli::kVerbs,
                          .version = "cairn " CAIRN_VERSION},
                         argc, argv);
}
