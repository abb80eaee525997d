#include "mpi/call/fortran_sites.h"

#include <algorithm>

#include "mpi/preload/binding_frames.h"
#include "spec/spec.h"

namespace cairn::recorder {
namespace {

constexpr const char *kUnseen =
    "some calls from Fortran are missing: this Fortran library of MPI does not call the C functions for them";

/// Fortran has no handles but its own; only a binding converts them.
bool converts_handles(const spec::Function &function) {
  const auto converts = [](spec::Kind kind) { return kind == spec::Kind::fint_handle || kind == spec::Kind::f_status; };
  if (function.returns == spec::ReturnKind::fint) return true;
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
    entry.unanswered = 0;
    thread.process->losses.note(kUnseen);
  }
  if (is_pending(entry, stack)) {
    if (entered(entry) != function) return nullptr;
    entry.stack = 0;
    return thread.site_table->find(reinterpret_cast<uintptr_t>(entry.return_address));
  }
  // PMPI_ names of the binding, entries of mpi_f08 that are not known: the program's all the same.
  return converts_handles(spec::functions()[function]) ? nullptr : in_binding;
}

}  // namespace cairn::recorder
