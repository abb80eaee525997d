#include "terminal/screen.h"

#include <algorithm>

namespace cairn::cli {
namespace {

bool is_inside(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

/// Where the character, or the escape code, at `at` ends.
size_t end_of(std::string_view text, size_t at, bool *is_code) {
  *is_code = text[at] == '\033';
  if (*is_code) {
    const size_t end = text.find('m', at);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  do ++at;
  while (at < text.size() && is_inside(text[at]));
  return at;
}

/// Where the text has taken `columns` columns.
size_t place_of(std::string_view text, size_t columns) {
  size_t at = 0;
  for (bool is_code = false; at < text.size();) {
    const size_t end = end_of(text, at, &is_code);
    if (!is_code && columns-- == 0) break;
    at = end;
  }
  return at;
}

/// How far what follows a line is indented.
size_t indent_of(std::string_view line, size_t width) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", begin);
  const size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (second != std::string_view::npos) {
    const size_t columns = columns_of(line.substr(0, second));
    if (columns <= 24 && columns < width / 2) return columns;
  }
  return begin + 4 < width / 2 ? begin + 4 : 0;
}

void fold_line(std::string_view line, size_t width, std::string *out) {
  const size_t indent = indent_of(line, width);
  size_t room = width;
  while (columns_of(line) > room) {
    const size_t most = place_of(line, room + 1);
    size_t cut = line.substr(0, most).rfind(' ');
    // A word that is as wide as the line is cut where the line ends; blanks at the beginning are no place to cut.
    if (cut == std::string_view::npos || line.find_first_not_of(' ') > cut) cut = place_of(line, room);
    if (room == width && columns_of(line.substr(0, cut)) < indent) cut = place_of(line, room);
    *out += line.substr(0, line.find_last_not_of(' ', cut - 1) + 1);
    *out += '\n';
    out->append(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
    room = width - indent;
  }
  *out += line;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    bool is_code = false;
    at = end_of(text, at, &is_code);
    if (!is_code) ++columns;
  }
  return columns;
}

size_t screen_lines(std::string_view text, size_t width) {
  size_t lines = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines += std::max<size_t>(1, (columns_of(text.substr(0, end)) + width - 1) / width);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string folded(std::string_view text, size_t width) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end <= width) {
      out += text.substr(0, end);
    } else {
      fold_line(text.substr(0, end), width, &out);
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string shortened(const std::string &text, size_t most) {
  const size_t columns = columns_of(text);
  if (columns <= most) return text;
  if (most == 0) return {};
  const size_t front = (most - 1) / 3;
  return text.substr(0, place_of(text, front)) + "…" + text.substr(place_of(text, columns - (most - 1 - front)));
}

std::string shortened_behind(const std::string &text, size_t place, size_t most) {
  if (columns_of(text) <= most) return text;
  std::string where = text.substr(0, place);
  const size_t columns = columns_of(where);
  if (columns > most) return most == 0 ? "" : "…" + where.substr(place_of(where, columns - (most - 1)));
  constexpr std::string_view kIn = " in ";
  constexpr size_t kLeastName = 8;  // less of a name says nothing
  if (text.compare(place, kIn.size(), kIn) != 0 || columns + kIn.size() + kLeastName > most) return where;
  return where + std::string(kIn) + shortened(text.substr(place + kIn.size()), most - columns - kIn.size());
}

}  // namespace cairn::cli
