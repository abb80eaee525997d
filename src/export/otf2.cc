#include "export/otf2.h"

#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "export/otf2_definitions.h"
#include "export/reach.h"
#include "export/walk.h"
#include "files/partial.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

constexpr uint64_t kEventChunk = 1 << 20;
constexpr uint64_t kDefinitionChunk = 1 << 20;

/// What the library says of its first error, instead of printing it.
class Complaints {
 public:
  Complaints() { before_ = OTF2_Error_RegisterCallback(&Complaints::hear, this); }
  ~Complaints() { OTF2_Error_RegisterCallback(before_, nullptr); }
  Complaints(const Complaints &) = delete;
  Complaints &operator=(const Complaints &) = delete;

  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && text_.empty()) text_ = OTF2_Error_GetDescription(code);
  }
  [[nodiscard]] bool any() const { return !text_.empty(); }
  [[nodiscard]] Result<void> result(const std::string &folder) const {
    if (!any()) return {};
    return tl::unexpected(Error{ErrorKind::environment, "the OTF2 library cannot write it: " + text_, folder,
                                Error::kNoOffset, "make room, or name another folder with --output"});
  }

 private:
  static OTF2_ErrorCode hear(void *self, const char * /*file*/, uint64_t /*line*/, const char * /*function*/,
                             OTF2_ErrorCode code, const char *form, va_list values) {
    std::string &text = static_cast<Complaints *>(self)->text_;
    if (!text.empty()) return code;
    std::array<char, 512> said{};
    if (form != nullptr) std::vsnprintf(said.data(), said.size(), form, values);
    text = OTF2_Error_GetDescription(code);
    if (said[0] != '\0') text += fmt::format(" ({})", said.data());
    std::replace(text.begin(), text.end(), '\n', ' ');
    return code;
  }
  OTF2_ErrorCallback before_;
  std::string text_;
};

OTF2_FlushType flush_always(void * /*data*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void * /*caller*/,
                            bool /*last*/) {
  return OTF2_FLUSH;
}

/// The memory of one of the library's buffers. By itself it takes 128 MiB for the events of a location before it
/// writes.
struct Chunks {
  static constexpr size_t kMostOfEvents = 2;
  std::vector<void *> all;
};

/// nullptr: it is to write what it has.
void *take_chunk(void * /*data*/, OTF2_FileType type, OTF2_LocationRef /*location*/, void **of_buffer, uint64_t size) {
  if (*of_buffer == nullptr) *of_buffer = new Chunks;
  auto *chunks = static_cast<Chunks *>(*of_buffer);
  if (type == OTF2_FILETYPE_EVENTS && chunks->all.size() >= Chunks::kMostOfEvents) return nullptr;
  void *chunk = std::malloc(size);
  if (chunk != nullptr) chunks->all.push_back(chunk);
  return chunk;
}

void give_chunks_back(void * /*data*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void **of_buffer,
                      bool last) {
  auto *chunks = static_cast<Chunks *>(*of_buffer);
  if (chunks == nullptr) return;
  for (void *chunk : chunks->all) std::free(chunk);
  chunks->all.clear();
  if (!last) return;
  delete chunks;
  *of_buffer = nullptr;
}

uint64_t location_of(uint32_t rank, uint32_t thread) { return uint64_t{thread} << 32 | rank; }

/// Tags and ranks are 32 bits there.
uint32_t tag_of(const MessageEnd &end) { return static_cast<uint32_t>(end.tag); }

/// The events of one call, with the messages that it sends and receives.
class EventsOf {
 public:
  EventsOf(const simgrid::Groups &groups, uint32_t rank, Complaints *complaints)
      : groups_(groups), rank_(rank), complaints_(*complaints) {}

  void begin(OTF2_EvtWriter *writer, const Call &call) {
    if (complaints_.any()) return;
    const uint64_t at = call.begin_ns;
    check(OTF2_EvtWriter_Enter(writer, nullptr, at, call.place));
    for (const MessageEnd &end : call.ends) {
      if (complaints_.any()) return;
      if (end.kind == MessageEnd::Kind::send) {
        check(OTF2_EvtWriter_MpiSend(writer, nullptr, at, peer_of(end), end.communicator, tag_of(end), end.bytes));
      } else if (end.kind == MessageEnd::Kind::isend) {
        check(OTF2_EvtWriter_MpiIsend(writer, nullptr, at, peer_of(end), end.communicator, tag_of(end), end.bytes,
                                      end.request));
      } else if (end.kind == MessageEnd::Kind::receive_posted) {
        check(OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, at, end.request));
      } else if (end.kind == MessageEnd::Kind::collective) {
        check(OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, at));
      } else if (end.kind == MessageEnd::Kind::collective_begun) {
        check(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, nullptr, at, end.request));
      }
    }
  }

  void end(OTF2_EvtWriter *writer, const Call &call) {
    const uint64_t at = call.end_ns;
    for (const MessageEnd &end : call.ends) {
      if (complaints_.any()) return;
      if (end.kind == MessageEnd::Kind::isend_done) {
        check(OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, at, end.request));
      } else if (end.kind == MessageEnd::Kind::receive) {
        check(OTF2_EvtWriter_MpiRecv(writer, nullptr, at, peer_of(end), end.communicator, tag_of(end), end.bytes));
      } else if (end.kind == MessageEnd::Kind::receive_done) {
        check(OTF2_EvtWriter_MpiIrecv(writer, nullptr, at, peer_of(end), end.communicator, tag_of(end), end.bytes,
                                      end.request));
      } else if (end.kind == MessageEnd::Kind::cancelled) {
        check(OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, at, end.request));
      } else if (end.kind == MessageEnd::Kind::collective) {
        check(OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, at, operation_of(end.function), end.communicator,
                                              root_of(end), end.bytes, end.received));
      } else if (end.kind == MessageEnd::Kind::collective_done) {
        check(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer, nullptr, at, operation_of(end.function),
                                                           end.communicator, root_of(end), end.bytes, end.received,
                                                           end.request));
      }
    }
    if (!complaints_.any()) check(OTF2_EvtWriter_Leave(writer, nullptr, at, call.place));
  }

 private:
  /// Ranks of the second of two groups come behind those of the first.
  struct Place {
    uint32_t own = 0;     ///< this rank's
    uint32_t others = 0;  ///< what is added to ranks in arguments
  };
  const Place &place_in(uint32_t communicator) {
    const auto [known, fresh] = places_.try_emplace(communicator);
    const auto &[first, second] = groups_.members(communicator);
    if (!fresh || second.empty()) return known->second;
    const auto here = std::find(first.begin(), first.end(), rank_);
    const auto count = static_cast<uint32_t>(first.size());
    if (here != first.end()) {
      known->second = {static_cast<uint32_t>(here - first.begin()), count};
    } else {
      const auto there = std::find(second.begin(), second.end(), rank_);
      known->second = {count + static_cast<uint32_t>(there - second.begin()), 0};
    }
    return known->second;
  }
  uint32_t peer_of(const MessageEnd &end) { return end.peer + place_in(end.communicator).others; }
  uint32_t root_of(const MessageEnd &end) {
    if (end.between == MessageEnd::Between::this_process) return place_in(end.communicator).own;
    // Some other of this group is it, which none of its arguments says.
    if (end.between == MessageEnd::Between::this_group || !end.root) return OTF2_COLLECTIVE_ROOT_NONE;
    return *end.root + place_in(end.communicator).others;
  }
  void check(OTF2_ErrorCode code) { complaints_.check(code); }
  const simgrid::Groups &groups_;
  uint32_t rank_;
  std::map<uint32_t, Place> places_;  ///< by communicator
  Complaints &complaints_;
};

class Otf2Writer {
 public:
  Otf2Writer(Scope *scope, const gpu::Launches &launches, OTF2_Archive *archive, Complaints *complaints,
             Otf2Counts *counts)
      : scope_(*scope), launches_(launches), archive_(archive), complaints_(*complaints), counts_(*counts) {}

  Result<void> write() {
    static const OTF2_FlushCallbacks flush{&flush_always, nullptr};
    check(OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr));
    static const OTF2_MemoryCallbacks memory{&take_chunk, &give_chunks_back};
    check(OTF2_Archive_SetMemoryCallbacks(archive_, &memory, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    check(OTF2_Archive_SetCreator(archive_, "cairn"));
    const std::string &command = scope_.trace->run().command;
    if (!command.empty()) check(OTF2_Archive_SetDescription(archive_, valid_utf8(command).c_str()));
    run_.scope = &scope_;
    for (uint32_t rank = 0; rank < scope_.trace->rank_count(); ++rank) {
      run_.first_locations.push_back(location_of(rank, first_thread(rank)));
    }
    Result<void> done;
    check(OTF2_Archive_OpenEvtFiles(archive_));
    for (uint32_t rank = 0; rank < scope_.trace->rank_count() && !complaints_.any(); ++rank) {
      auto end = write_rank(rank);
      if (done) done = std::move(end);
    }
    if (!complaints_.any()) write_kernels();
    if (complaints_.any()) return done;
    check(OTF2_Archive_CloseEvtFiles(archive_));
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (const Otf2Location &each : run_.locations) {
      OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive_, each.number);
      if (local == nullptr) break;
      check(OTF2_Archive_CloseDefWriter(archive_, local));
    }
    check(OTF2_Archive_CloseDefFiles(archive_));
    OTF2_GlobalDefWriter *global = OTF2_Archive_GetGlobalDefWriter(archive_);
    if (global != nullptr) {
      check(write_definitions(global, run_));
      check(OTF2_Archive_CloseGlobalDefWriter(archive_, global));
    }
    counts_.locations = run_.locations.size();
    return done;
  }

 private:
  [[nodiscard]] uint32_t first_thread(uint32_t rank) const {
    const auto sequences = scope_.trace->sequences(rank);
    return sequences.empty() ? 0 : sequences.front().thread;
  }

  Result<void> write_rank(uint32_t rank) {
    std::map<uint32_t, OTF2_EvtWriter *> writers;
    const auto open = [&](uint32_t thread) {
      OTF2_EvtWriter *&writer = writers[thread];
      if (writer == nullptr) writer = OTF2_Archive_GetEvtWriter(archive_, location_of(rank, thread));
    };
    open(first_thread(rank));
    const bool wanted = scope_.wanted.has_rank(rank);
    for (const auto &sequence : scope_.trace->sequences(rank)) {
      if (wanted) open(sequence.thread);
    }
    const bool opened = std::all_of(writers.begin(), writers.end(), [](const auto &e) { return e.second != nullptr; });
    Result<void> end;
    if (opened && wanted) {
      EventsOf events(scope_.groups, rank, &complaints_);
      Nesting nesting([&](const Call &call) { events.begin(writers[call.thread], call); },
                      [&](const Call &call) {
                        events.end(writers[call.thread], call);
                        run_.last_ns = std::max(run_.last_ns, call.end_ns);
                      });
      Walk walk(&scope_, rank, &counts_.left_out);
      for (Call *call = walk.next(); call != nullptr && !complaints_.any(); call = walk.next()) {
        ++counts_.calls;
        nesting.add(std::move(*call));
      }
      nesting.finish();
      end = walk.end();
    }
    for (const auto &[thread, writer] : writers) {
      if (writer == nullptr) continue;
      Otf2Location location{location_of(rank, thread), rank, thread, 0};
      close(writer, &location);
    }
    return end;
  }

  /// One stream after the other.
  void write_kernels() {
    run_.kernels = kernels_of(scope_, launches_);
    std::vector<std::vector<const Kernel *>> of_stream(run_.kernels.streams.size());
    for (const Kernel &kernel : run_.kernels.all) of_stream[kernel.stream].push_back(&kernel);
    const auto first = static_cast<uint32_t>(scope_.places().size());
    for (uint32_t number = 0; number < run_.kernels.streams.size() && !complaints_.any(); ++number) {
      const Kernels::Stream &stream = run_.kernels.streams[number];
      Otf2Location location{location_of(stream.rank, stream.thread), stream.rank, stream.thread, 0, number};
      OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive_, location.number);
      if (writer == nullptr) return;
      for (const Kernel *kernel : of_stream[number]) {
        if (complaints_.any()) return;
        const auto known = static_cast<uint32_t>(first + run_.kernel_regions.size());
        const uint32_t region = run_.kernel_regions.try_emplace(kernel->name(launches_), known).first->second;
        check(OTF2_EvtWriter_Enter(writer, nullptr, kernel->begin_ns, region));
        check(OTF2_EvtWriter_Leave(writer, nullptr, kernel->end_ns, region));
        run_.last_ns = std::max(run_.last_ns, kernel->end_ns);
        ++counts_.kernels;
      }
      close(writer, &location);
    }
  }

  void close(OTF2_EvtWriter *writer, Otf2Location *location) {
    // After a write that failed the library would write the same again, out of memory that it has given back.
    if (complaints_.any()) return;
    check(OTF2_EvtWriter_GetNumberOfEvents(writer, &location->events));
    check(OTF2_Archive_CloseEvtWriter(archive_, writer));
    counts_.events += location->events;
    run_.locations.push_back(*location);
  }

  void check(OTF2_ErrorCode code) { complaints_.check(code); }

  Scope &scope_;
  const gpu::Launches &launches_;
  OTF2_Archive *archive_;
  Complaints &complaints_;
  Otf2Counts &counts_;
  Otf2Run run_;
};

}  // namespace

bool has_otf2() { return true; }

Result<void> write_otf2(Scope *scope, const gpu::Launches &launches, const std::string &path, Otf2Counts *counts) {
  auto folder = Partial::of(path, true);
  if (!folder) return tl::unexpected(folder.error());
  if (auto done = learn_received_sizes(scope); !done) return done;
  Complaints complaints;
  OTF2_Archive *archive = OTF2_Archive_Open(folder->name().c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk,
                                            kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  Result<void> done;
  if (archive != nullptr) {
    done = Otf2Writer(scope, launches, archive, &complaints, counts).write();
    if (!complaints.any()) complaints.check(OTF2_Archive_Close(archive));
  }
  if (complaints.any()) return complaints.result(path);
  if (auto kept = folder->finish(); !kept) return kept;
  return done;
}

}  // namespace cairn::exporting
