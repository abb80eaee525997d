// What reader.wasm is compiled with in the place of the library fmt, whose numbers of all kinds would be a sixth of it.
//
// format: of integers, texts, letters and doubles; {} and a few forms, {:02}, {:>4}, {:+},
// {:#x}, {:016x}, {:03o}, {:.1f}. What has another form does not compile. Halves of doubles are rounded up.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace fmt {

namespace detail {

/// An argument, as it is shown.
struct Shown {
  enum class Kind : uint8_t { text, number, real };
  Kind kind = Kind::text;
  bool negative = false;
  uint64_t number = 0;
  double real = 0;
  std::string_view text;

  Shown(std::string_view of) : text(of) {}
  Shown(const std::string &of) : text(of) {}
  Shown(const char *of) : text(of) {}
  Shown(const char &of) : text(&of, 1) {}
  Shown(double of) : kind(Kind::real), real(of) {}
  Shown(bool of) : text(of ? "true" : "false") {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>) Shown(Integer of)
      : kind(Kind::number), number(static_cast<uint64_t>(of)) {
    if constexpr (std::is_signed_v<Integer>) {
      negative = of < 0;
      if (negative) number = 0 - number;
    }
  }
};

/// What stands between the brackets behind a colon.
struct Form {
  char align = 0;
  bool plus = false;
  bool prefix = false;
  bool zeros = false;
  uint32_t width = 0;
  int32_t precision = -1;
  char type = 0;
};

/// Takes a form from the front, up to its bracket. False if it is another than those above.
constexpr bool take_form(std::string_view *rest, Form *form) {
  const auto is = [&](char letter) { return !rest->empty() && rest->front() == letter; };
  const auto takes = [&](char letter) {
    if (!is(letter)) return false;
    rest->remove_prefix(1);
    return true;
  };
  const auto number = [&] {
    uint32_t value = 0;
    for (; !rest->empty() && rest->front() >= '0' && rest->front() <= '9'; rest->remove_prefix(1)) {
      value = 10 * value + static_cast<uint32_t>(rest->front() - '0');
    }
    return value;
  };
  if (takes(':')) {
    for (const char letter : {'<', '>'}) {
      if (takes(letter)) form->align = letter;
    }
    form->plus = takes('+');
    form->prefix = takes('#');
    form->zeros = takes('0');
    form->width = number();
    if (takes('.')) form->precision = static_cast<int32_t>(number());
    for (const char letter : {'x', 'o', 'f'}) {
      if (takes(letter)) form->type = letter;
    }
  }
  return takes('}');
}

/// How many arguments a text shows; -1 where it is not as it must be.
constexpr int arguments_in(std::string_view text) {
  int count = 0;
  while (!text.empty()) {
    const char letter = text.front();
    text.remove_prefix(1);
    if (letter != '{' && letter != '}') continue;
    if (!text.empty() && text.front() == letter) {
      text.remove_prefix(1);
      continue;
    }
    Form form;
    if (letter == '}' || !take_form(&text, &form)) return -1;
    ++count;
  }
  return count;
}

void append(std::string *out, std::string_view text, const Shown *arguments);

void an_argument_too_few_or_a_form_that_is_not_known();  // is called by no program that compiles

template <typename... Arguments>
struct Text {
  std::string_view text;
  template <size_t kSize>
  consteval Text(const char (&of)[kSize]) : text(of, kSize - 1) {
    if (arguments_in(text) != static_cast<int>(sizeof...(Arguments))) {
      an_argument_too_few_or_a_form_that_is_not_known();
    }
  }
};

}  // namespace detail

template <typename... Arguments>
std::string format(detail::Text<std::type_identity_t<Arguments>...> text, const Arguments &...arguments) {
  const std::array<detail::Shown, sizeof...(Arguments) + 1> shown = {detail::Shown(arguments)..., detail::Shown("")};
  std::string out;
  detail::append(&out, text.text, shown.data());
  return out;
}

}  // namespace fmt
