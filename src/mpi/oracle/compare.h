// Comparer: one process's events, replayed in the order in which its calls ended, each compared with its raw record.
//
// It knows of MPI what spec/ says and nothing of the recorder. One a process; single-threaded; memory in proportion to
// the living objects. Differences go to the Report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpi/oracle/address_book.h"
#include "mpi/oracle/event_source.h"
#include "mpi/oracle/objects.h"
#include "mpi/oracle/reader.h"
#include "mpi/oracle/verify.h"
#include "trace/values/atom_reader.h"

namespace cairn::oracle {

using trace::AtomReader;
using trace::AtomValue;
std::string to_text(const AtomValue &value);

/// A communicator that a rank saw created: what all its members must agree on.
struct CommSighting {
  std::string identity;
  uint32_t rank = 0;
  int64_t smallest = 0;
  int64_t members = 0;
};

/// One decoded event and where it comes from.
struct Event {
  uint32_t thread = 0;  ///< the trace's
  uint64_t number = 0;  ///< in that thread
  const trace::Row *row = nullptr;
  const std::vector<SiteKey> *sites = nullptr;
};

class Comparer {
 public:
  Comparer(uint32_t rank, bool several_threads, const std::vector<std::optional<uint64_t>> &constants,
           VerifyReport &report)
      : rank_(rank), several_threads_(several_threads), constants_(constants), report_(report) {}

  /// False if the functions differ: nothing after it in this thread can be compared. `recorded`: a ticket by which the
  /// recorder was done with the call; 0 with one thread.
  bool compare(const Event &event, const LogFile &log, const LogRecord &record, uint64_t recorded = 0);

  /// With several threads: the call, which has not been compared yet, began before the next one to be compared ended.
  void begins(const Event &event, const LogFile &log, const LogRecord &record);
  /// The next one to be compared was perhaps recorded after this one, which began later.
  void may_come_before(const Event &event, const LogFile &log, const LogRecord &record);
  /// Whether it ends objects, if it succeeds; whether it looks some up.
  static bool may_free(const Event &event) { return has_effect(event, spec::Effect::release); }
  static bool looks_up(const Event &event) { return has_effect(event, spec::Effect::lookup); }

  [[nodiscard]] const std::vector<CommSighting> &comms() const { return comms_; }

 private:
  struct Named {
    Object *object = nullptr;
    uint64_t raw = 0;
    std::optional<uint16_t> constant;
  };

  static bool has_effect(const Event &event, spec::Effect effect);
  struct Released {
    spec::Kind kind;
    uint64_t raw;
    Name name;
    bool operator==(const Released &) const = default;
  };
  /// What the call ends, if it succeeds.
  std::vector<Released> released(const Event &event, const LogFile &log, const LogRecord &record);
  void parameter(unsigned i, const trace::Field &field);
  void result(const trace::Field &field);
  std::string value_problem(unsigned i, const trace::Field &field);
  std::string strings_problem(const trace::Field &field, const LogValue &value);
  std::string statuses_problem(unsigned i, const trace::Field &field, const std::vector<uint64_t> &words);
  std::string element(unsigned i, AtomReader &in, uint64_t word);
  std::string integer(AtomReader &in, uint64_t word, uint8_t domain, bool any_domain);
  std::string flags(AtomReader &in, uint64_t word, uint8_t domain);
  std::string error(AtomReader &in, uint64_t code, uint64_t error_class);
  std::string address(AtomReader &in, uint64_t word, uint8_t domain);
  std::string handle(unsigned i, AtomReader &in, uint64_t word, spec::Kind kind, spec::Effect effect, uint8_t domain);
  std::string comm(unsigned i, AtomReader &in, uint64_t word, spec::Effect effect, uint8_t domain);
  std::string new_comm(unsigned i, AtomReader &in, Object *made, std::optional<uint64_t> count);
  std::optional<uint64_t> count_creation();
  std::string bind(spec::Kind kind, uint64_t raw, const Name &name, spec::Effect effect, Object **found);
  std::string status(AtomReader *in, const uint64_t *logged, const Implied &implied);
  Implied implied_by(unsigned i, size_t k);
  Implied implied_by_call();
  std::string implied_bytes(const Implied &implied, uint64_t logged);
  void end_objects();

  [[nodiscard]] const LogValue *logged(unsigned parameter, bool after) const;
  /// What the call was given for the parameter of index `one_up` - 1; nothing for 0.
  [[nodiscard]] std::optional<int64_t> argument(unsigned one_up) const;
  [[nodiscard]] int parameter_with(spec::Effect effect, spec::Kind kind) const;
  [[nodiscard]] std::optional<uint64_t> constant(uint16_t id) const;
  [[nodiscard]] std::optional<uint16_t> constant_of(uint8_t domain, uint64_t value) const;
  [[nodiscard]] Name canonical(trace::Atom site, int64_t place) const;
  void differ(const std::string &what, const std::string &problem);
  [[nodiscard]] std::string parameter_name(unsigned i) const;

  uint32_t rank_;
  bool several_threads_;
  const std::vector<std::optional<uint64_t>> &constants_;
  VerifyReport &report_;

  Objects objects_;
  AddressBook addresses_;
  std::map<uint64_t, uint64_t> type_sizes_;  ///< learnt from statuses: by Object::serial or constant
  std::map<uint64_t, uint64_t> error_classes_;
  std::vector<CommSighting> comms_;
  std::map<uint64_t, uint64_t> creations_;  ///< over a communicator: by Object::serial or constant

  // The event in hand.
  const Event *event_ = nullptr;
  const spec::Function *function_ = nullptr;
  uint64_t log_thread_ = 0;
  uint64_t when_ = 0;
  uint64_t calls_ = 0;
  uint64_t ended_ = 0;     ///< its ticket
  uint64_t recorded_ = 0;  ///< a later one, by which the recorder was done with it
  bool succeeded_ = false;
  bool in_status_ = false;  ///< the call returned MPI_ERR_IN_STATUS
  std::vector<LogValue> values_;
  std::vector<Released> perhaps_released_;  ///< before it was recorded
  std::vector<std::vector<Named>> named_;   ///< objects by parameter
};

}  // namespace cairn::oracle
