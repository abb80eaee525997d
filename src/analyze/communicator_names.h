// CommunicatorNames: what one rank's communicators are called, so that a name means one communicator in the whole run,
// on all of its members.
//
// A trace gives each living communicator of a rank a small number, which the next may have when it is freed. What tells
// communicators apart is who made them (spec/README.md, "Communicators"): "comm(1@4)" is the one whose smallest rank in
// MPI_COMM_WORLD is 4, of those that creation number 1 over MPI_COMM_WORLD made; "comm(1@4.0@6)" is made in the same
// way over that one. Over MPI_COMM_SELF: "comm(self.0@3)". What only some of the parent's processes made together is
// called after its function, its tag, and who is in it: "comm(Comm_create_group 7: 0@4 of 3 by 2)", ranks 4, 6 and 8.
// Of a parent whose own name is long there is a hash: "comm(#00c0ffee00c0ffee.0@4)".
//
// Of several jobs in one trace (trace/read/join_jobs.h) each has its own MPI_COMM_WORLD: that of the second job is
// "2:MPI_COMM_WORLD", what is made over it "comm(2:1@0)", with ranks of that job's MPI_COMM_WORLD. What a job shares
// with the one that spawned it has one name in both: that which the spawning job gives the communicator that
// MPI_Comm_spawn made, "comm(1@0)", or what is made over it, as "comm(1@0.0)": processes of two jobs have no smallest
// rank in MPI_COMM_WORLD, so there is none; of MPI_Comm_split the color tells apart what one call made, as in
// "comm(1@0.0.2 color 7)". Where nothing does (MPI_Comm_create, MPI_Cart_sub, …), each job's part is called as its own:
// "comm(1@0.0.2:2@1)".
//
// Fed with the rank's calls in their order. Plain value; `see` costs a look at a table for calls that make none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "trace/model/record.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// A communicator that a call made, as the rank that called sees it.
struct NewCommunicator {
  std::string name;
  uint32_t function = 0;
  std::string parent;           ///< the name of that which it was made over; "" if there is none
  std::optional<int64_t> rank;  ///< this process's in its group there; nullopt: the trace does not know
  bool second = false;          ///< on the side of an intercommunicator that has not the smallest rank
  /// Processes of several of the trace's jobs may be in it, and they all call it so.
  bool joint = false;
  bool inter = false;  ///< where it is joint: whether it is an intercommunicator
  /// Processes of other jobs may be in it, who call it otherwise.
  bool has_strangers = false;
};

class CommunicatorNames {
 public:
  CommunicatorNames() = default;  ///< of a trace of one job
  CommunicatorNames(const trace::Trace &trace, uint32_t rank);
  /// Of the job with that number, from 0 on, of several; `parent` as in trace::Job.
  CommunicatorNames(uint32_t job, std::string parent);

  /// What the trace's job with that number, from 0 on, calls its MPI_COMM_WORLD.
  static std::string world_of(uint32_t job);
  /// Calls of other functions make no communicator.
  static bool makes_some(uint32_t function);

  /// The rank's next call. What it made; nullptr if it made none. Valid until the next call of this.
  const NewCommunicator *see(const trace::Row &row);
  /// The numbers of what a call made and of what it was made over, where that has one; nullopt: it made none.
  struct Numbers {
    int64_t made = 0;
    std::optional<int64_t> over;
  };
  static std::optional<Numbers> numbers(const trace::Row &row);
  /// Of the communicator with that number now; nullptr if nobody saw it made.
  [[nodiscard]] const std::string *name(int64_t number) const;
  /// Changes when a name does.
  [[nodiscard]] uint64_t version() const { return version_; }
  /// Numbers mean communicators of the same names.
  [[nodiscard]] bool like(const CommunicatorNames &other) const {
    return names_ == other.names_ && job_ == other.job_ && parent_ == other.parent_;
  }

 private:
  struct Known {
    std::string name;
    bool joint = false;
    bool inter = false;   ///< where it is joint, or has strangers
    bool second = false;  ///< in an intercommunicator: the side of the job that was spawned
    bool has_strangers = false;

    bool operator==(const Known &) const = default;
  };
  [[nodiscard]] const Known *known(int64_t number) const;
  /// Whose members are of several jobs; what it is called behind its parent's name.
  void see_joint(const spec::Function &function, const trace::Row &row, const Known &parent, const std::string &counter,
                 std::string *own);

  std::map<int64_t, Known> names_;
  std::string job_;     ///< "2:", where the trace has several jobs, but of the first
  std::string parent_;  ///< trace::Job::parent
  bool several_jobs_ = false;
  uint64_t version_ = 1;
  NewCommunicator made_;
};

}  // namespace cairn::analyze
