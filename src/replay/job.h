// Job: one rank of a replay: what its threads share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyze/cancellations.h"
#include "analyze/decode.h"
#include "replay/attachments.h"
#include "replay/memory.h"
#include "replay/other_jobs.h"
#include "replay/plan.h"
#include "replay/scratch_files.h"
#include "replay/slots.h"
#include "trace/read/trace.h"

namespace cairn::replay {

enum class Gaps : uint8_t { none, spin, sleep };

struct Settings {
  std::string file;
  std::string scratch;  ///< a folder that all ranks see
  Gaps gaps = Gaps::none;
  double scale = 1;  ///< of the gaps
  bool keep_wild = false;
  bool random_payload = false;
  bool shared_buffers = false;
  DeviceMemory device_memory = DeviceMemory::automatic;
  bool free_order = false;  ///< what completes first decides, as in the program
  bool quiet = false;
  bool echo = false;  ///< each call is printed before it is made
  // Of a replay of several jobs.
  uint32_t job = 0;                ///< which of them
  uint32_t first = 0;              ///< how many ranks those before it have
  uint32_t all = 0;                ///< how many all have; 0: there is one
  std::vector<std::string> words;  ///< that a spawned one is started with, too
  uint64_t stall_s = 60;           ///< after so long without a call anywhere it is a deadlock; 0: never
};

/// Of one function.
struct Made {
  uint64_t calls = 0;
  uint64_t ticks = 0;        ///< in MPI
  uint64_t recorded_ns = 0;  ///< the same calls in the recording, where the trace has the time of each
};

/// What a thread stands in, for those who look on.
struct Standing {
  std::atomic<const Plan *> plan{nullptr};
  std::atomic<const trace::Row *> row{nullptr};
  std::atomic<uint64_t> number{0};  ///< of the call that was read last, among the thread's
  std::atomic<uint64_t> calls{0};   ///< made so far
  /// Of several threads: the ticket (trace/read/trace.h) of the call that it begins next.
  std::atomic<uint64_t> ticket{0};
  // One thread here makes the calls of all that had one number in the recording, one after the other.
  std::atomic<uint64_t> made{0};     ///< of those, by what others have done so far
  std::atomic<uint64_t> begun{0};    ///< of the ones that others made
  std::atomic<bool> is_alive{true};  ///< also before the first of those that others made
  std::atomic<bool> waits{false};    ///< for another thread to make the next one, or to end
};

class Job {
 public:
  Job(const trace::Trace &trace, const analyze::Sources &sources, uint32_t rank, Settings settings);

  /// Makes all calls of the rank. An error says which call failed, and where.
  Result<void> run();
  /// What each thread that has begun stands in: "call 12, MPI_Recv(…)  main.c:12", or "call 12 of thread 1, …" where
  /// there are several, whose calls `cairn dump` counts together; nothing while none is in MPI.
  [[nodiscard]] std::vector<std::string> standing() const;
  [[nodiscard]] uint64_t calls() const;

  void (*when_mpi_begins)() = nullptr;

  // For the walkers.
  const trace::Trace &trace;
  const analyze::Sources &sources;
  const uint32_t rank;
  const Settings settings;
  /// Of slots, memory and plans, where there are several threads.
  std::mutex lock;
  bool several_threads = false;
  bool follows_heap = false;  ///< segments of the heap begin and end as they did
  Memory memory;
  Slots slots;
  ScratchFiles files;
  Attachments attachments;
  OtherJobs other_jobs;
  analyze::Cancellations cancellations;
  std::vector<std::optional<Word>> constants;
  std::vector<Invoke> invokers;
  std::vector<Made> made;  ///< by function; of thread 0 alone where there are several
  std::map<std::string, uint64_t> passed_over;
  uint64_t differs = 0;  ///< calls that failed in the recording and not here
  const uint64_t begin_ticks;
  const uint64_t begin_ns;
  uint64_t mpi_begin_ns = 0;  ///< when MPI was there
  uint64_t mean_gap_ns = 0;   ///< between calls of the rank in the recording, where gaps are waited for
  [[nodiscard]] Surroundings surroundings();
  /// Returns once all calls of other threads that ended before the one with this ticket have begun. What began before
  /// it is not known, and another thread may wait for it: so who waits for long while none makes a call goes on, unless
  /// the call gives an object up (`gives_up`), which the others may still use.
  void wait_for_turn(Standing *own, uint64_t ticket, bool gives_up);
  /// What a sequence of this thread tells of threads: one is made, or begins here once it has been made; has ended,
  /// which others wait for, or is waited for. Who waits goes on where no other thread does anything any more.
  void happens(uint32_t thread, Standing *own, const trace::ThreadEvent &event);
  /// Before and after a call that begins or ends MPI. Before it ends, all other threads have.
  void before(const Plan &plan, const Standing *own);
  void after(const Plan &plan);
  /// "MPI_Recv(…)  main.c:12 in main()".
  [[nodiscard]] std::string text(const Plan &plan, const trace::Row &row) const;

 private:
  void run_thread(uint32_t thread);
  template <typename Condition>
  void wait_until(Standing *own, const Condition &holds);
  void join();
  std::vector<uint32_t> thread_numbers_;
  std::vector<Standing> standing_;
  std::vector<std::thread> others_;
  std::mutex error_lock_;
  Result<void> error_;
};

}  // namespace cairn::replay
