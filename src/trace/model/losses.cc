#include "trace/model/losses.h"

#include <algorithm>
#include <charconv>

namespace cairn::trace {

std::string write_losses(const std::vector<Loss> &losses) {
  std::string text;
  for (const Loss &loss : losses) {
    if (!text.empty()) text += '\n';
    if (loss.missing || loss.asked) text += loss.missing ? '!' : '-';
    if (loss.count != 0) text += std::to_string(loss.count) + ' ';
    text += loss.reason;
  }
  return text;
}

std::vector<Loss> read_losses(std::string_view text) {
  std::vector<Loss> losses;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Loss loss;
    loss.missing = line.starts_with('!');
    loss.asked = line.starts_with('-');
    if (loss.missing || loss.asked) line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), loss.count);
    const auto digits = static_cast<size_t>(end - line.data());
    if (error == std::errc() && digits < line.size() && *end == ' ') {
      line.remove_prefix(digits + 1);
    } else {
      loss.count = 0;
    }
    loss.reason = line;
    losses.push_back(std::move(loss));
  }
  return losses;
}

}  // namespace cairn::trace
