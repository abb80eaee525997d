#include "analyze/join.h"

#include <string>
#include <utility>

#include "analyze/communicator_names.h"
#include "analyze/spawned.h"
#include "trace/read/events.h"
#include "trace/read/join_jobs.h"

namespace cairn::analyze {
namespace {

/// What the communicator is called that call number `number` of rank `root`, of those that spawned a job, made; empty:
/// there is no such call.
Result<std::string> name_of_spawn(const trace::Trace &trace, CommunicatorNames names, uint32_t root, uint64_t number) {
  trace::Events events(trace, root, false);
  while (const trace::Event *event = events.next()) {
    const NewCommunicator *made = names.see(*event->values);
    if (made != nullptr && spawned_processes(*event->values) && number-- == 0) return made->name;
  }
  if (auto end = events.end_of_calls(); !end) return tl::unexpected(end.error());
  return std::string();
}

}  // namespace

Result<Bytes> join(const std::vector<FamilyMember> &family) {
  std::vector<const trace::Trace *> traces;
  std::vector<trace::Job> jobs;
  uint32_t ranks = 0;
  for (uint32_t number = 0; number < family.size(); ++number) {
    const FamilyMember &member = family[number];
    trace::Job job;
    job.first = ranks;
    if (number != 0) {
      // Who spawned it stands before it.
      const CommunicatorNames names(member.parent, jobs[member.parent].parent);
      auto parent = name_of_spawn(family[member.parent].trace, names, member.root, member.number);
      if (!parent) return tl::unexpected(parent.error());
      job.spawned_by = jobs[member.parent].first + member.root;
      job.parent = *std::move(parent);
    }
    ranks += member.trace.rank_count();
    traces.push_back(&member.trace);
    jobs.push_back(std::move(job));
  }
  return trace::join_jobs(traces, std::move(jobs));
}

}  // namespace cairn::analyze
