#include "mpi/call/fortran_sites.h"

#include <algorithm>

#include "spec/spec.h"

namespace cairn::recorder {
namespace {

constexpr uintptr_t kBindingFrames = 64 << 10;  ///< MPICH 4.0.2's largest is 1.2 KiB

/// Fortran has no handles but its own; only a binding converts them.
bool converts_handles(const spec::Function &function) {
  const auto converts = [](spec::Kind kind) { return kind == spec::Kind::fint_handle || kind == spec::Kind::f_status; };
  if (function.returns == spec::ReturnKind::fint) return true;
  return std::any_of(function.parameters, function.parameters + function.parameter_count,
                     [&](const spec::Parameter &parameter) { return converts(parameter.kind); });
}

}  // namespace

bool is_pending(const CairnFortranEntry &entry, uintptr_t stack) {
  return entry.stack > stack && entry.stack - stack <= kBindingFrames;
}

Site *fortran_site(Thread &thread, Site *in_binding, uint32_t function, uintptr_t stack) {
  CairnFortranEntry &entry = *thread.process->run.preload->fortran_entry();
  if (is_pending(entry, stack)) {
    if (entry.function != function) return nullptr;
    entry.stack = 0;
    return thread.site_table->find(reinterpret_cast<uintptr_t>(entry.return_address));
  }
  // PMPI_ names of the binding, entries of mpi_f08 that are not known: the program's all the same.
  return converts_handles(spec::functions()[function]) ? nullptr : in_binding;
}

}  // namespace cairn::recorder
