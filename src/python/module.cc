// The module cairn._core: what the package `cairn` (cairn/*.py) is made of.
#include "python/run.h"

PYBIND11_MODULE(_core, module) {
  cairn::python::declare_run(module);
  cairn::python::declare_calls(module);
  cairn::python::declare_traffic(module);
  cairn::python::declare_tables(module);
}
