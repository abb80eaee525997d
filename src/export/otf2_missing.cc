// Instead of otf2.cc where the library was not there.
#include "export/otf2.h"

namespace cairn::exporting {

bool has_otf2() { return false; }

Result<void> write_otf2(Scope * /*scope*/, const gpu::Launches & /*launches*/, const std::string & /*folder*/,
                        Otf2Counts * /*counts*/) {
  return fail(ErrorKind::environment, "this cairn was built without the OTF2 library",
              "install it (Debian: libopen-trace-format2-dev) and build cairn again");
}

}  // namespace cairn::exporting
