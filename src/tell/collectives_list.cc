#include "tell/collectives_list.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "terminal/words.h"

namespace cairn::cli {

using traffic::By;
using traffic::Matrix;

Listing collectives_list(const Matrix &matrix) {
  Listing list({{"collective", "operation", true},
                {"communicator", "communicator", true},
                {matrix.by == By::site ? "call site" : nullptr, matrix.by == By::site ? "site" : nullptr, true},
                {"calls", "calls"},
                {"ranks", "ranks"},
                {"bytes/rank", "bytes_a_rank"},
                {nullptr, "bytes"},
                {nullptr, "unsized_calls"}});
  for (const traffic::CollectiveLine &line : matrix.collectives) {
    const double each = static_cast<double>(line.bytes) / static_cast<double>(std::max<uint64_t>(1, line.ranks));
    const std::string text = bytes_text(static_cast<uint64_t>(std::llround(each)));
    Cell a_rank = {line.unsized == 0 ? text : line.unsized == line.calls ? "unknown" : ">= " + text, each};
    list.add({words(line.operation), words(line.communicator), words(line.site), count(line.calls), count(line.ranks),
              std::move(a_rank), count(line.bytes), count(line.unsized)});
  }
  return list;
}

}  // namespace cairn::cli
