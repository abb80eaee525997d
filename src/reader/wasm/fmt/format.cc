#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fmt::detail {
namespace {

/// The shortest digits that stand for a double: "0.5", "1e+20".
std::string shortest(double real) {
  if (!std::isfinite(real)) return std::isnan(real) ? "nan" : std::signbit(real) ? "-inf" : "inf";
  std::string out = std::signbit(real) ? "-" : "";
  if (real == 0) return out + "0";
  char digits[32];
  int count = 0;
  int exponent = 0;
  nlohmann::detail::dtoa_impl::grisu2(digits, count, exponent, std::abs(real));
  const int point = count + exponent;  // digits before it
  constexpr int kLeast = -4;
  constexpr int kMost = 16;
  if (point - 1 >= kMost || point - 1 < kLeast) {
    out += digits[0];
    if (count > 1) out.append(".").append(digits + 1, static_cast<size_t>(count - 1));
    const int power = std::abs(point - 1);
    out.append(point < 1 ? "e-" : "e+").append(power < 10 ? "0" : "").append(std::to_string(power));
  } else if (point <= 0) {
    out.append("0.").append(static_cast<size_t>(-point), '0').append(digits, static_cast<size_t>(count));
  } else if (point >= count) {
    out.append(digits, static_cast<size_t>(count)).append(static_cast<size_t>(point - count), '0');
  } else {
    out.append(digits, static_cast<size_t>(point)).append(".");
    out.append(digits + point, static_cast<size_t>(count - point));
  }
  return out;
}

std::string digits_of(const Shown &shown, const Form &form) {
  if (shown.kind == Shown::Kind::text) return std::string(shown.text);
  std::string digits;
  uint64_t number = shown.number;
  bool negative = shown.negative;
  uint32_t decimals = 0;
  if (shown.kind == Shown::Kind::real) {
    if (form.precision < 0) return shortest(shown.real);
    decimals = static_cast<uint32_t>(form.precision);
    negative = shown.real < 0;
    number = static_cast<uint64_t>(std::abs(shown.real) * std::pow(10, decimals) + 0.5);
  }
  const uint32_t base = form.type == 'x' ? 16 : form.type == 'o' ? 8 : 10;
  for (; number != 0 || digits.size() <= decimals; number /= base) {
    digits.insert(digits.begin(), "0123456789abcdef"[number % base]);
  }
  if (decimals != 0) digits.insert(digits.size() - decimals, ".");
  std::string front = negative ? "-" : form.plus ? "+" : "";
  if (form.prefix && base == 16) front += "0x";
  if (form.zeros && digits.size() + front.size() < form.width) {
    digits.insert(0, form.width - digits.size() - front.size(), '0');
  }
  return front + digits;
}

}  // namespace

void append(std::string *out, std::string_view text, const Shown *arguments) {
  while (!text.empty()) {
    const char letter = text.front();
    text.remove_prefix(1);
    if (letter != '{' && letter != '}') {
      *out += letter;
      continue;
    }
    if (!text.empty() && text.front() == letter) {
      text.remove_prefix(1);
      *out += letter;
      continue;
    }
    Form form;
    if (!take_form(&text, &form)) return;
    const std::string shown = digits_of(*arguments, form);
    const size_t blanks = shown.size() < form.width ? form.width - shown.size() : 0;
    const bool left = form.align == '<' || (form.align == 0 && arguments->kind == Shown::Kind::text);
    if (!left) out->append(blanks, ' ');
    *out += shown;
    if (left) out->append(blanks, ' ');
    ++arguments;
  }
}

}  // namespace fmt::detail
