#include "spool/recovery.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

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
Bytes read_arena(const std::string &arena) {
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
  const auto record = recorder::harvest_dead(process, (*dead)->size());
  if (!record) return refuse(record.error());
  if (process.progress.finished && record->sequences.empty()) return nothing();
  const bool no_calls = record->sequences.empty() && process.spilling.spilled.load() == 0;
  auto part = trace::Part::of(*record);
  if (part)
    part = recorder::with_segments(process, std::filesystem::path(arena).parent_path().string(), std::move(*part));
  if (!part) return refuse(part.error());
  out.byte(static_cast<uint8_t>(no_calls ? Answer::no_calls : Answer::part));
  // Killed after MPI_Finalize: what came before is in the trace already.
  const auto kind = process.progress.finished ? SpoolHeader::Kind::epilogue : SpoolHeader::Kind::main;
  out.raw(recorder::spool_file_of(process, kind, "killed", *part));
  return out.take();
}

[[noreturn]] void child(const std::string &arena, int to) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) std::signal(signal, SIG_DFL);
  alarm(kSeconds);
  int error = 1;
  try {
    error = write_all(to, read_arena(arena));
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

Result<PartFile> recover(const std::string &arena) {
  if (recorder::is_untouched_arena(arena)) return PartFile{};
  const auto failure = [&](std::string message) {
    return tl::unexpected(Error{ErrorKind::unreadable, std::move(message), arena, Error::kNoOffset, "it stays there"});
  };
  int ends[2];
  if (pipe(ends) != 0) return failure(std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    child(arena, ends[1]);
  }
  close(ends[1]);
  Bytes bytes = pid < 0 ? Bytes() : read_all(ends[0]);
  close(ends[0]);
  int status = -1;
  if (pid > 0) waitpid(pid, &status, 0);
  if (status != 0 || bytes.empty()) return failure("the memory of a killed process is damaged");
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

}  // namespace cairn::spool
