#include "mpi/call/fortran_sites.h"

#include <dlfcn.h>

#include <algorithm>

#include "mpi/call/facts.h"
#include "mpi/preload/binding_frames.h"
#include "spec/ids.h"
#include "spec/spec.h"

namespace cairn::recorder {
namespace {

/// Open MPI's binding hands its own statuses over and drops what it was not asked for.
thread_local const void *unwanted __attribute__((tls_model("initial-exec"))) = nullptr;

/// Variables of the MPI library that hold the addresses: [0] MPI_STATUS_IGNORE, [1] MPI_STATUSES_IGNORE.
const void *const *no_status[2][2];
const CairnPreload *preloaded;

/// Fortran has no handles but its own; only a binding converts them.
bool converts_handles(const spec::Function &function) {
  const auto converts = [](spec::Kind kind) { return kind == spec::Kind::fint_handle || kind == spec::Kind::f_status; };
  if (function.returns == spec::ReturnKind::fint && function.return_kind != spec::Kind::boolean) return true;
  return std::any_of(function.parameters, function.parameters + function.parameter_count,
                     [&](const spec::Parameter &parameter) { return converts(parameter.kind); });
}

}  // namespace

uint32_t entered(const CairnFortranEntry &entry) { return entry.function & ~kCairnJumps; }

bool is_pending(const CairnFortranEntry &entry, uintptr_t stack) {
  return entry.stack > stack && entry.stack - stack <= CAIRN_BINDING_FRAMES;
}

Site *fortran_site(Thread &thread, Site *in_binding, uint32_t function, uintptr_t stack) {
  CairnFortranEntry &entry = *thread.process->run.preload->fortran_entry();
  if (entry.unanswered != 0) {
    thread.process->losses.note(Loss::unseen_fortran, entry.unanswered);
    entry.unanswered = 0;
  }
  if (is_pending(entry, stack)) {
    if (entered(entry) != function) return nullptr;
    entry.stack = 0;
    return thread.site_table->find(reinterpret_cast<uintptr_t>(entry.return_address));
  }
  // PMPI_ names of the binding, entries of mpi_f08 that are not known: the program's all the same.
  return converts_handles(spec::functions()[function]) ? nullptr : in_binding;
}

bool is_no_status(const void *status, bool all) {
  if (status == nullptr) return false;
  return std::any_of(std::begin(no_status[all ? 1 : 0]), std::end(no_status[all ? 1 : 0]),
                     [&](const void *const *constant) { return constant != nullptr && *constant == status; });
}

const void **unwanted_status() { return &unwanted; }

uint64_t wanted_status(const void *in_binding, bool all) {
  namespace id = spec::constant_id;
  uint64_t ignore = 0;
  if (!is_no_status(preloaded->fortran_entry()->status, all) ||
      !local_constant(all ? id::k_STATUSES_IGNORE : id::k_STATUS_IGNORE, &ignore)) {
    return word(in_binding);
  }
  unwanted = in_binding;
  return ignore;
}

void prepare_fortran_sites(const CairnPreload &preload) {
  preloaded = &preload;
  const auto find = [&](const char *name) { return static_cast<const void *const *>(dlsym(preload.mpi_handle, name)); };
  no_status[0][0] = find("MPI_F_STATUS_IGNORE");
  no_status[0][1] = find("MPI_F08_STATUS_IGNORE");
  no_status[1][0] = find("MPI_F_STATUSES_IGNORE");
  no_status[1][1] = find("MPI_F08_STATUSES_IGNORE");
}

}  // namespace cairn::recorder
