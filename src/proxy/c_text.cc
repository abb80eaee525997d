#include "proxy/c_text.h"

#include <fmt/format.h>

#include <cctype>

namespace cairn::proxy {
namespace {

constexpr size_t kWidth = 110;

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char each : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(each)) != 0;
    if (plain) {
      name += each;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  constexpr size_t kLongest = 48;
  if (name.size() > kLongest) name.resize(kLongest);
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "at_");
  return name;
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      out += fmt::format("\\{}", each);
    } else if (byte < 0x20 || byte >= 0x7f || each == '?') {
      out += fmt::format("\\{:03o}", byte);  // three digits: what follows is never taken for one of them
    } else {
      out += each;
    }
  }
  return out + '"';
}

std::string comment_text(std::string_view text) {
  std::string out;
  for (const char each : text) {
    const bool ends = each == '/' && !out.empty() && (out.back() == '*');
    const bool begins = each == '*' && !out.empty() && out.back() == '/';
    if (ends || begins) out += ' ';
    out += static_cast<unsigned char>(each) < 0x20 ? ' ' : each;
  }
  return out;
}

std::string Identifiers::unique(const std::string &wanted) {
  size_t &next = next_[wanted];
  if (next == 0) {
    next = 2;
    return wanted;
  }
  std::string name;
  do name = fmt::format("{}_{}", wanted, next++);
  while (!next_.try_emplace(name, 2).second);
  return name;
}

std::string list_text(const std::vector<std::string> &items, size_t width) {
  std::string out;
  std::string line = " ";
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (line.size() + 1 + item.size() > width && line.size() > 1) {
      out += line + '\n';
      line = " ";
    }
    line += ' ' + item;
  }
  return out + (line.size() > 1 ? line : "");
}

std::string terms_text(const grammar::Grammar &order) {
  std::vector<std::string> items;
  for (const grammar::Body &body : order.rules()) {
    for (const grammar::Term &term : body) {
      const std::string count =
          term.count > INT32_MAX ? fmt::format("{}LL", term.count) : fmt::format("{}", term.count);
      items.push_back(fmt::format("{{{}{}, {}}}", term.is_rule ? "-" : "", term.id, count));
    }
    items.emplace_back("{0, 0}");
  }
  return list_text(items);
}

void Source::line(const std::string &text) {
  if (!text.empty()) text_ += std::string(2 * depth_, ' ') + text;
  text_ += '\n';
}

void Source::open(const std::string &text) {
  line(text.empty() ? "{" : text + " {");
  ++depth_;
}

void Source::close(const std::string &text) {
  --depth_;
  line(text);
}

void Source::code(const std::string &text) {
  if (text.starts_with('}') && depth_ > 0) --depth_;
  statement(text);
  if (text.ends_with('{')) ++depth_;
}

void Source::statement(const std::string &text, const std::string &comment) {
  const std::string remark = comment.empty() ? "" : "  /* " + comment + " */";
  if (2 * depth_ + text.size() + remark.size() <= kWidth) return line(text + remark);
  if (!comment.empty()) line("/* " + comment + " */");
  std::string rest = text;
  std::string indent;
  while (2 * depth_ + indent.size() + rest.size() > kWidth) {
    const size_t most = kWidth - 2 * depth_ - indent.size();
    size_t cut = std::string::npos;
    bool quoted = false;
    for (size_t i = 0; i + 1 < rest.size(); ++i) {
      if (rest[i] == '"' && (i == 0 || rest[i - 1] != '\\')) quoted = !quoted;
      if (quoted || rest[i] != ',' || rest[i + 1] != ' ') continue;
      if (cut != std::string::npos && i >= most) break;
      cut = i + 1;
    }
    if (cut == std::string::npos) break;
    line(indent + rest.substr(0, cut));
    rest = rest.substr(cut + 1);
    indent = "    ";
  }
  line(indent + rest);
}

}  // namespace cairn::proxy
