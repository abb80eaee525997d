#include "trace/read/class_structure.h"

#include "trace/read/trace_body.h"

namespace cairn::trace {

const ClassPart &class_structure(const Trace &trace, uint32_t index) { return class_part_of(trace, index); }

}  // namespace cairn::trace
