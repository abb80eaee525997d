#include "proxy/row_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace cairn::proxy {
namespace {

struct Token {
  enum Kind : uint8_t { other, number, text };
  Kind kind = other;
  std::string value;
  bool operator==(const Token &) const = default;
};

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

size_t end_of_text(const std::string &call, size_t begin) {
  size_t end = begin + 1;
  while (end < call.size() && call[end] != '"') end += call[end] == '\\' ? 2 : 1;
  return std::min(end + 1, call.size());
}

std::vector<Token> tokens(const std::string &call) {
  std::vector<Token> all;
  for (size_t at = 0; at < call.size();) {
    size_t end = at + 1;
    Token token;
    if (call[at] == '"') {
      end = end_of_text(call, at);
      token.kind = Token::text;
    } else if (is_word(call[at])) {
      while (end < call.size() && is_word(call[end])) ++end;
      if (std::isdigit(static_cast<unsigned char>(call[at])) != 0) token.kind = Token::number;
    }
    token.value = call.substr(at, end - at);
    all.push_back(std::move(token));
    at = end;
  }
  return all;
}

}  // namespace

std::string shape_of(const std::string &call) {
  std::string shape;
  for (const Token &token : tokens(call)) {
    shape += token.kind == Token::number ? "0" : token.kind == Token::text ? "\"\"" : token.value;
  }
  return shape;
}

std::string column_name(size_t column) {
  const std::string letter(1, static_cast<char>('a' + column % 26));
  return column < 26 ? letter : fmt::format("{}{}", letter, column / 26);
}

std::optional<RowTable> row_table(const std::vector<std::string> &calls) {
  if (calls.size() < 2) return std::nullopt;
  const std::vector<Token> first = tokens(calls[0]);
  std::vector<bool> differs(first.size(), false);
  std::vector<std::vector<Token>> all;
  for (const std::string &call : calls) {
    all.push_back(tokens(call));
    if (all.back().size() != first.size()) return std::nullopt;
    for (size_t i = 0; i < first.size(); ++i) {
      if (all.back()[i] == first[i]) continue;
      if (first[i].kind == Token::other || all.back()[i].kind != first[i].kind) return std::nullopt;
      differs[i] = true;
    }
  }
  RowTable table;
  table.rows.resize(calls.size());
  for (size_t i = 0; i < first.size(); ++i) {
    if (!differs[i]) {
      table.call += first[i].value;
      continue;
    }
    table.call += "all[row]." + column_name(table.is_text.size());
    table.is_text.push_back(first[i].kind == Token::text);
    for (size_t row = 0; row < calls.size(); ++row) table.rows[row].push_back(all[row][i].value);
  }
  if (table.is_text.empty()) return std::nullopt;
  return table;
}

void write_table(const RowTable &table, Source *out) {
  out->open("static const struct");
  for (size_t i = 0; i < table.is_text.size(); ++i) {
    out->line((table.is_text[i] ? "const char *" : "long long ") + column_name(i) + ";");
  }
  out->close("} all[] = {");
  std::vector<std::string> items;
  for (const std::vector<std::string> &row : table.rows) {
    std::string item;
    for (const std::string &each : row) item += (item.empty() ? "" : ", ") + each;
    items.push_back("{" + item + "}");
  }
  out->raw(list_text(items));
  out->line("};");
}

void write_lines(const std::vector<std::string> &lines, Source *out) {
  constexpr size_t kFew = 16;
  for (size_t at = 0; at < lines.size();) {
    size_t end = at + 1;
    const std::string shape = shape_of(lines[at]);
    while (end < lines.size() && shape_of(lines[end]) == shape) ++end;
    const bool few = end - at < kFew || !lines[at].ends_with(");");
    const auto table = few ? std::nullopt
                           : row_table({lines.begin() + static_cast<std::ptrdiff_t>(at),
                                        lines.begin() + static_cast<std::ptrdiff_t>(end)});
    if (table) {
      out->open("");
      write_table(*table, out);
      out->open(fmt::format("for (int row = 0; row < {}; ++row)", table->rows.size()));
      out->statement(table->call);
      out->close();
      out->close();
    } else {
      for (; at < end; ++at) out->code(lines[at]);
    }
    at = end;
  }
}

}  // namespace cairn::proxy
