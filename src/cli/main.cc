// `cairn`: the table of its verbs.
#include <malloc.h>

#include <csignal>

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
    {.name = "ranks",
     .group = kTraces,
     .help = "Tell which ranks are slow, which classes there are, and why they differ",
     .declare = declare_ranks},
    {.name = "phases",
     .group = kTraces,
     .help = "Tell what the run did when, as a short list of phases",
     .declare = declare_phases},
    {.name = "matrix", .group = kTraces, .help = "Tell who sends how much to whom", .declare = declare_matrix},
    {.name = "sizes", .group = kTraces, .help = "Tell how large messages are", .declare = declare_sizes},
    {.name = "timeline",
     .group = kTraces,
     .help = "Show what ranks did when, as lines of letters",
     .declare = declare_timeline},
    {.name = "waits",
     .group = kTraces,
     .help = "Tell how long ranks waited for which others, and why",
     .declare = declare_waits},
    {.name = "path", .group = kTraces, .help = "Tell what the end of the run waited for", .declare = declare_path},
    {.name = "efficiency",
     .group = kTraces,
     .help = "Tell how much of the time is work, and what costs the rest",
     .declare = declare_efficiency},
    {.name = "check",
     .group = kTraces,
     .help = "Find what is wrong in a run: leaks, wrong types, deadlocks and more",
     .declare = declare_check,
     .no = "something is wrong"},
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
    {.name = "report", .group = kTraces, .help = "Write a run as one HTML page to look at", .declare = declare_report},
    {.name = "serve",
     .group = kTraces,
     .help = "Show the traces of a folder as pages, on this machine alone",
     .declare = declare_serve,
     .reads = false},
    {.name = "replay",
     .group = kTraces,
     .help = "Make the calls of a trace again, under any MPI",
     .declare = declare_replay,
     .usage = "cairn replay [OPTIONS] [FILE] -- LAUNCHER [ARGUMENTS]",
     .behind = Behind::others,
     .no = "the replay failed"},
    {.name = "proxy",
     .group = kTraces,
     .help = "Write a C or C++ program that makes the calls of a trace",
     .declare = declare_proxy},
    {.name = "export",
     .group = kTraces,
     .help = "Write a run in the forms that other tools read: timelines, OTF2, tables, graphs",
     .declare = declare_export},
    {.name = "join",
     .group = kTraces,
     .help = "Make one trace of a run's and of those of the jobs that it spawned",
     .declare = declare_join},
    {.name = "extrapolate",
     .group = kTraces,
     .help = "Make a trace of more ranks from traces of fewer",
     .declare = declare_extrapolate,
     .no = "what was made differs from the recording of --check"},
    {.name = "estimate",
     .group = kTraces,
     .help = "Tell how large a trace of more ranks or steps would be",
     .declare = declare_estimate},
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
  // A file that may not become as long (ulimit -f) is one that cannot be written, which is told. A handler, since what
  // we start is to have its own way.
  std::signal(SIGXFSZ, [](int) {});
#ifdef __GLIBC__
  // Analyses make and drop buffers of megabytes by the thousand; glibc would give each back to the system, which clears
  // its pages again every time: a third of the time of a summary of 16,384 ranks.
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 64 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 128 * kMiB);
#endif
  return cairn::cli::run({.name = "cairn",
                          .about = "Records what a parallel program does and keeps all of it, small.",
                          .footer = "cairn help VERB tells a verb's options. Without a file, "
                                    "verbs read the newest "
                                    ".cairn in the folder.",
                          .verbs = cairn::cli::kVerbs,
                          .version = "cairn " CAIRN_VERSION},
                         argc, argv);
}
