#include "spool/recovery.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/whole.h"
#include "mpi/store/arena_file.h"
#include "mpi/store/harvest.h"
#include "mpi/store/segments.h"

namespace cairn::spool {
namespace {

constexpr unsigned kSeconds = 60;

/// What the reading process says first.
enum class Answer : uint8_t {
  refused,   ///< a message for the user follows
  part,      ///< the bytes of a part file follow
  no_calls,  ///< the same, of a process none of whose calls had ended
  nothing,   ///< that is not in a trace or a part already
};

/// An answer, and what follows it.
Bytes read_arena(const std::string &arena, std::optional<int64_t> ended_unix_ns) {
  ByteWriter out;
  const auto refuse = [&](const Error &error) {
    out.byte(static_cast<uint8_t>(Answer::refused));
    out.text(error.message);
    return out.take();
  };
  const auto dead = recorder::DeadProcess::open(arena);
  if (!dead) return refuse(dead.error());
  const recorder::Process &process = (*dead)->process();
  const auto nothing = [&] {
    out.byte(static_cast<uint8_t>(Answer::nothing));
    return out.take();
  };
  if (!process.progress.attached) return nothing();
  const auto record = recorder::harvest_dead(process, (*dead)->size(), ended_unix_ns);
  if (!record) return refuse(record.error());
  if (process.progress.finished && record->sequences.empty()) return nothing();
  const bool no_calls = !process.has_calls();
  auto part = trace::Part::of(*record);
  if (part)
    part = recorder::with_segments(process, std::filesystem::path(arena).parent_path().string(), std::move(*part));
  if (!part) return refuse(part.error());
  out.byte(static_cast<uint8_t>(no_calls ? Answer::no_calls : Answer::part));
  // Killed after MPI_Finalize: what came before is in the trace already.
  const auto kind = process.progress.finished ? SpoolHeader::Kind::epilogue : SpoolHeader::Kind::main;
  const bool killed = process.progress.ending == recorder::Ending::none;
  out.raw(recorder::spool_file_of(process, kind, killed ? "killed" : recorder::status_of(process), *part));
  return out.take();
}

/// Where the threads of a process stand: if it is the same before and after something was read, what was read holds.
std::vector<uint64_t> standing(const recorder::Process &process) {
  std::vector<uint64_t> all = {process.thread_count.load()};
  for (const recorder::RecordedThread *thread = process.threads.first.load(); thread != nullptr;
       thread = thread->next) {
    const recorder::InFlight &in_flight = thread->in_flight;
    if (in_flight.state == nullptr || thread->sequence.calls == nullptr) continue;
    const uint32_t depth = std::min(in_flight.state->depth, recorder::kMostFrames);
    all.insert(all.end(), {depth, in_flight.state->busy, thread->last_end, thread->sequence.calls->length()});
    for (uint32_t i = 0; i < depth; ++i) all.push_back(in_flight.frames[i].begin);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return all;
}

/// A state, and what follows the answer in `read_arena`.
Bytes read_living(const std::string &arena) {
  using State = Sight::State;
  const auto living = recorder::DeadProcess::open(arena, recorder::DeadProcess::Access::read_only);
  if (!living) return {};
  const recorder::Process &process = (*living)->process();
  const auto say = [&](State state, const trace::ProcessRecord &record) {
    ByteWriter out;
    out.byte(static_cast<uint8_t>(state));
    const auto part = trace::Part::of(record);
    if (part) out.raw(recorder::spool_file_of(process, SpoolHeader::Kind::main, "running", *part));
    return out.take();
  };
  const bool begun = process.run.rank >= 0 || process.progress.init_seen || process.progress.has_session;
  if (!process.progress.attached || !begun) return {static_cast<uint8_t>(State::none)};
  if (process.progress.finished) return say(State::done, recorder::identity_of(process));
  constexpr int kTries = 40;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<uint64_t> before = standing(process);
    const auto record = recorder::harvest_living(process, (*living)->size());
    if (record && standing(process) == before) return say(State::waiting, *record);
    usleep(static_cast<useconds_t>(i) * 500);
  }
  return say(State::running, recorder::identity_of(process));
}

template <class Read>
[[noreturn]] void child(Read read, int to) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) std::signal(signal, SIG_DFL);
  alarm(kSeconds);
  int error = 1;
  try {
    error = write_all(to, read());
  } catch (...) {
    // Nothing was sent.
  }
  _exit(error == 0 ? 0 : 1);
}

Bytes read_all(int from) {
  Bytes bytes;
  uint8_t buffer[65536];
  for (;;) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.insert(bytes.end(), buffer, buffer + n);
  }
}

}  // namespace

namespace {

/// What `read` gives in a process of its own; nothing if that failed, or died of it.
template <class Read>
Result<Bytes> in_child(Read read) {
  int ends[2];
  if (pipe(ends) != 0) return fail(ErrorKind::environment, std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    child(read, ends[1]);
  }
  close(ends[1]);
  Bytes bytes = pid < 0 ? Bytes() : read_all(ends[0]);
  close(ends[0]);
  int status = -1;
  if (pid > 0) waitpid(pid, &status, 0);
  if (status != 0) bytes.clear();
  return bytes;
}

}  // namespace

Result<PartFile> recover(const std::string &arena, std::optional<int64_t> ended_unix_ns) {
  if (recorder::is_untouched_arena(arena)) return PartFile{};
  const auto failure = [&](std::string message) {
    return tl::unexpected(Error{ErrorKind::unreadable, std::move(message), arena, Error::kNoOffset, "it stays there"});
  };
  auto read = in_child([&] { return read_arena(arena, ended_unix_ns); });
  if (!read) return failure(read.error().message);
  Bytes bytes = *std::move(read);
  if (bytes.empty()) {
    return failure(recorder::is_cut(arena) ? "the disk had no room for all of the memory of a process that was killed"
                                           : "the memory of a killed process is damaged");
  }
  const auto answer = static_cast<Answer>(bytes.front());
  if (answer == Answer::nothing) return PartFile{};
  if (answer == Answer::refused) {
    ByteReader in(ByteView(bytes).subspan(1));
    return failure(in.text());
  }
  bytes.erase(bytes.begin());
  auto part = part_file(arena, std::move(bytes));
  if (!part) return failure(part.error().message);
  part->no_calls = answer == Answer::no_calls;
  return part;
}

Result<Sight> look_at(const std::string &arena) {
  if (recorder::is_untouched_arena(arena)) return Sight{};
  if (!recorder::is_of_this_host(arena)) return Sight{Sight::State::elsewhere, {}};
  auto read = in_child([&] { return read_living(arena); });
  if (!read) return tl::unexpected(read.error());
  Bytes bytes = *std::move(read);
  if (bytes.size() <= 1) return Sight{};
  const auto state = static_cast<Sight::State>(bytes.front());
  bytes.erase(bytes.begin());
  auto part = part_file(arena, std::move(bytes));
  if (!part) return tl::unexpected(part.error());
  return Sight{state, *std::move(part)};
}

}  // namespace cairn::spool
