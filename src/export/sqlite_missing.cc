// Instead of sqlite.cc where the library was not there.
#include "export/tables.h"

namespace cairn::exporting {

Result<std::unique_ptr<TableWriter>> sqlite_writer(const std::string & /*file*/) {
  return fail(ErrorKind::environment, "this cairn was built without SQLite",
              "install it (Debian: libsqlite3-dev) and build cairn again, or export --to csv");
}

}  // namespace cairn::exporting
