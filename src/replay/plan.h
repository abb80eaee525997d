// Plan: one distinct call of a trace made ready: its arguments as words, and what must be looked up, copied or kept
// each time that it is made. A call that recurs is planned once.
//
// What an argument becomes follows from spec/ alone (kind, layout, direction, passing, effect), and is the same for all
// functions. Plans borrow slots and regions; they stay where they are.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "replay/attachments.h"
#include "replay/memory.h"
#include "replay/mpi_side.h"
#include "replay/scratch_files.h"
#include "replay/slots.h"
#include "spec/spec.h"
#include "trace/values/atom_reader.h"

namespace cairn::replay {

/// What must be so before the call is made, so that it comes out as it did.
enum class Await : uint8_t {
  nothing,
  all_requests,   ///< those of its array are done
  some_requests,  ///< `completed` are done; the call does not see the others, which may be done by now, too
  message,        ///< the message that it asks for is there
  partition,      ///< has arrived
  success,        ///< nobody can ask first: the call is made until it finds something
};

/// What a call has to do with other jobs (meeting.h).
struct Meeting {
  enum class How : uint8_t { opens, awaits, names, spawns, fails_to_spawn };  ///< a port, or a job
  How how = How::opens;
  uint8_t parameter = 0;  ///< a port's name; or the command, or commands
  uint8_t arguments = 0;  ///< of these
  size_t commands = 0;    ///< of MPI_Comm_spawn_multiple; 0: there is one
  std::string port;       ///< its name in the recording
  // What the call is given this time.
  std::string program = {};
  std::vector<std::string> now = {};
  std::vector<char *> argv = {};
  std::vector<char *> programs = {};
  std::vector<char **> argvs = {};
};

struct Plan {
  const spec::Function *function = nullptr;
  Invoke invoke = nullptr;
  uint32_t class_index = 0;
  uint32_t site = 0;
  uint32_t depth = 0;

  /// Why the call is not made: a poll that found nothing, a call that cannot be made again. nullptr: it is made.
  const char *passed_over = nullptr;
  bool never_returned = false;
  bool fails = false;     ///< it returned an error code
  bool gives_up = false;  ///< a communicator, a window, a file or a session: others may still use it

  /// A file that is removed by the first process of the communicator before the call; empty: none.
  std::string must_not_exist;

  std::array<Word, spec::kMaxParameters> words{};

  struct HandleUse {
    uint8_t parameter;
    Slot *slot;
    bool by_pointer;
    bool given_up;  ///< by this call: from its begin on another thread may make one of this name
    uint8_t bytes;
    Word null;
  };
  struct HandleArray {
    uint8_t parameter;
    uint8_t bytes;
    Word null;
    std::vector<Slot *> slots;  ///< nullptr: a constant
    std::vector<Word> constants;
    bool changes;                      ///< MPI may write it
    std::vector<char> buffer = {};     ///< what the call is given; stays, since MPI may read it later
    std::vector<bool> hidden = {};     ///< from this call, so that it finds those that it found
    std::vector<Word> kept = {};       ///< the hidden ones
    std::vector<Slot *> renamed = {};  ///< by place, where requests complete in any order: its name from now on
  };
  struct HandleMade {
    uint8_t parameter;
    uint8_t bytes;
    size_t count;
    std::vector<Slot *> slots;  ///< nullptr: nothing to keep
    bool in_place;              ///< written where the slot has it, perhaps later
  };
  struct AddressUse {
    uint8_t parameter;
    Region *region;
    int64_t offset;
  };
  struct AddressArray {
    uint8_t parameter;
    std::vector<std::pair<Region *, int64_t>> places;  ///< without a region: the number itself
    std::vector<char> buffer;
  };
  struct Updated {
    uint8_t parameter;
    std::vector<char> before;
  };
  struct Bound {
    uint8_t parameter;
    Region *region;
    int64_t offset;
  };
  /// A displacement in a window; where that is a dynamic one, an address of the target (attachments.h).
  struct Remote {
    uint8_t parameter;
    uint8_t window;  ///< parameters
    uint8_t target;  ///< the same
    uint64_t raw;    ///< recorded
  };
  struct Output {
    uint8_t parameter;
    size_t bytes;
  };
  struct Filled {
    uint8_t parameter;
    Region *region;
    int64_t offset;
    uint8_t count;     ///< parameters
    uint8_t datatype;  ///< the same
  };
  /// A handle as another language has it.
  struct Number {
    spec::Kind kind;  ///< of what it stands for
    int64_t recorded;
    uint8_t parameter = 0;
  };
  std::vector<HandleUse> handles;
  std::vector<Number> numbers;  ///< that the call is given
  std::optional<Number> returned_number;
  std::vector<HandleArray> handle_arrays;
  std::vector<HandleMade> made;
  std::vector<AddressUse> addresses;
  std::vector<AddressArray> address_arrays;
  std::vector<Updated> updated;
  std::vector<Bound> bound;
  std::optional<Remote> remote;
  std::optional<Meeting> meeting;
  std::optional<size_t> attaches;  ///< which of the rank's segments
  std::vector<Output> outputs;
  std::vector<Filled> filled;
  Slot *returned = nullptr;  ///< the handle that the function returns

  Await await = Await::nothing;
  std::vector<uint32_t> completed;
  int awaited_source = 0;  ///< of Await::message
  int awaited_tag = 0;

  /// A receive from anybody that makes a request: parameters whose values its completion tells, plus 1; 0: none.
  uint8_t wild_source = 0;
  uint8_t wild_tag = 0;

  /// What the call told of the requests that it completed, where it did.
  std::vector<StatusValues> statuses;

  /// Input arrays, strings and statuses, which MPI only reads.
  std::deque<std::vector<char>> owned;
};

/// What all plans of a rank are made with.
struct Surroundings {
  Memory *memory = nullptr;
  Slots *slots = nullptr;
  ScratchFiles *files = nullptr;
  Attachments *attachments = nullptr;
  const std::vector<std::optional<Word>> *constants = nullptr;
  const std::vector<Invoke> *invokers = nullptr;
  bool same_library = false;  ///< as recorded: its error codes mean the same
  bool keep_wild = false;     ///< receives from anybody stay such
  bool fill = false;          ///< buffers that are sent are filled
  /// Of spec::constants(); nullopt: this library lacks it.
  [[nodiscard]] std::optional<Word> constant(int id) const {
    const auto place = static_cast<size_t>(id);
    return place < constants->size() ? (*constants)[place] : std::nullopt;
  }
};

class Planner {
 public:
  explicit Planner(const Surroundings &with) : with_(with) {}
  /// `scope`: of the sequence that the row is of. An error says which argument cannot be made.
  Result<std::unique_ptr<Plan>> plan(const trace::Row &row, uint32_t class_index, const analyze::RowScope &scope);

 private:
  Surroundings with_;
};

}  // namespace cairn::replay
