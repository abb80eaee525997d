#include "tell/sites.h"

#include "text/utf8.h"

namespace cairn::cli {

nlohmann::ordered_json site_json(const analyze::Position &position) {
  return {{"module", valid_utf8(position.module)},
          {"offset", position.offset},
          {"function", valid_utf8(position.function)},
          {"file", valid_utf8(position.file)},
          {"line", position.line}};
}

Cell site_cell(const analyze::Position &position) {
  if (position.text().empty()) return {"unknown", site_json(position)};
  return {position.short_text(), site_json(position), position.brief().size()};
}

}  // namespace cairn::cli
