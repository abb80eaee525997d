#include "proxy/fields.h"

#include "trace/model/row_fields.h"

namespace cairn::proxy {

std::vector<FieldView> fields_of(const trace::ClassRow &row) {
  std::vector<FieldView> all;
  trace::RowFields fields(row);
  for (size_t f = 0; f < row.heads.size(); ++f) {
    const trace::FieldHead &head = fields.next();
    FieldView view;
    switch (head.kind) {
      case trace::FieldHead::text:
        view.kind = FieldView::text;
        view.bytes = &fields.text();
        break;
      case trace::FieldHead::table:
        view.kind = FieldView::table;
        view.values = fields.table().get();
        break;
      case trace::FieldHead::moved:
        view.kind = FieldView::moved;
        break;
      case trace::FieldHead::atoms:
        for (uint32_t i = 0; i < head.count; ++i) view.slots.push_back({fields.atom(i), fields.column(i).get()});
        break;
    }
    all.push_back(std::move(view));
  }
  return all;
}

}  // namespace cairn::proxy
