#include "terminal/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace cairn::cli {

bool Option::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

Option &Options::add(const std::string &names, const std::string &help, const std::string &type) {
  Option option{CLI::detail::split(names, ','), help, type, {}, 1};
  if (option.is_word() && type.empty()) option.type = names;
  return all_.emplace_back(std::move(option));
}

void Options::flag(const std::string &names, bool &value, const std::string &help) {
  verb_->add_flag(names, value, help);
  add(names, help, {});
}

void Options::text(const std::string &names, std::string &value, const std::string &help, const std::string &type,
                   const std::vector<std::string> &often) {
  CLI::Option *option = verb_->add_option(names, value, help);
  if (!type.empty()) option->type_name(type);
  add(names, help, type).choices = often;
}

void Options::choice(const std::string &names, std::string &value, const std::vector<std::string> &allowed,
                     const std::string &help, const std::string &type) {
  verb_->add_option(names, value, help)->check(CLI::IsMember(allowed))->type_name(type);
  add(names, help, type).choices = allowed;
}

void Options::number(const std::string &names, std::optional<uint64_t> &value, const std::string &help,
                     const std::string &type) {
  verb_->add_option(names, value, help)->type_name(type)->check([](const std::string &word) {
    const bool good = !word.empty() && word.size() < 20 && word.find_first_not_of("0123456789") == std::string::npos;
    return good ? std::string() : "'" + word + "' is no number from 0 on";
  });
  add(names, help, type);
}

void Options::real(const std::string &names, std::optional<double> &value, const std::string &help,
                   const std::string &type) {
  verb_->add_option(names, value, help)->type_name(type);
  add(names, help, type);
}

void Options::repeated(const std::string &names, std::vector<std::string> &values, const std::string &help,
                       const std::string &type, const std::vector<std::string> &often) {
  verb_->add_option(names, values, help)->type_name(type)->allow_extra_args(false);
  Option &option = add(names, help, type);
  option.most = SIZE_MAX;
  option.choices = often;
}

void Options::needed(const std::string &name, std::string &value, const std::vector<std::string> &allowed,
                     const std::string &help) {
  verb_->add_option(name, value, help)->required()->check(CLI::IsMember(allowed));
  add(name, help, {}).choices = allowed;
}

void Options::one(const std::string &name, std::string &value, const std::string &help) {
  verb_->add_option(name, value, help)->required();
  add(name, help, {});
}

void Options::words(const std::string &name, std::vector<std::string> &values, const std::string &help, size_t most) {
  verb_->add_option(name, values, help)->required();
  add(name, help, {}).most = most;
}

void Options::apart(const std::string &one, const std::string &other, const std::string &message) {
  apart_.push_back({one, other, message});
}

void Options::spelled(const std::string &word, const std::string &name) { spellings_.emplace_back(word, name); }

std::string Options::spelling_of(const std::string &word) const {
  for (const auto &[other, name] : spellings_) {
    if (word == other || word.starts_with(other + "=")) return name + word.substr(other.size());
  }
  return word;
}

const Option *Options::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Option &option) { return option.has(name); });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<std::string> Options::excluded_by(std::string_view name) const {
  std::vector<std::string> all;
  for (const Apart &pair : apart_) {
    if (pair.one == name) all.push_back(pair.other);
    if (pair.other == name) all.push_back(pair.one);
  }
  return all;
}

bool Options::given(const std::string &name) const { return verb_->count(name) != 0; }

Result<void> Options::check() const {
  for (const Option &option : all_) {
    const std::string &name = option.names.back();
    if (option.type.empty() || option.is_word() || !given(name)) continue;
    for (const std::string &value : verb_->get_option(name)->results()) {
      if (value.empty()) return fail(ErrorKind::usage, name + " is given an empty word", "leave it out, or say what");
    }
  }
  for (const auto &[one, other, message] : apart_) {
    if (given(one) && given(other)) return fail(ErrorKind::usage, message, "choose one");
  }
  return {};
}

const Option *Options::open_after(const std::string &word) const {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  const auto takes_value = [](const Option *option) { return option != nullptr && !option->type.empty(); };
  if (word[1] == '-') {
    const Option *option = word.find('=') == std::string::npos ? find(word) : nullptr;
    return takes_value(option) ? option : nullptr;
  }
  // Short ones in one word, as -fo: what follows the first that takes a value is that value.
  for (size_t i = 1; i < word.size(); ++i) {
    const Option *option = find(std::string("-") + word[i]);
    if (takes_value(option)) return i + 1 == word.size() ? option : nullptr;
  }
  return nullptr;
}

size_t command_start(const Options &options, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "--" || word.size() < 2 || word[0] != '-') return i;
    if (options.open_after(word) != nullptr) ++i;
  }
  return words.size();
}

}  // namespace cairn::cli
