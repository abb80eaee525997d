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
  verb_->add_option(names, value, help)->type_name(type);
  add(names, help, type);
}

void Options::real(const std::string &names, std::optional<double> &value, const std::string &help,
                   const std::string &type) {
  verb_->add_option(names, value, help)->type_name(type);
  add(names, help, type);
}

void Options::repeated(const std::string &names, std::vector<std::string> &values, const std::string &help,
                       const std::string &type) {
  verb_->add_option(names, values, help)->type_name(type)->allow_extra_args(false);
  add(names, help, type).most = SIZE_MAX;
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
  for (const auto &[one, other, message] : apart_) {
    if (given(one) && given(other)) return fail(ErrorKind::usage, message, "choose one");
  }
  return {};
}

size_t command_start(const Options &options, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "--" || word.size() < 2 || word[0] != '-') return i;
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const Option *option = options.find(is_long ? word.substr(0, equals) : word.substr(0, 2));
    const bool value_follows = equals == std::string::npos && (is_long || word.size() == 2);
    if (option != nullptr && !option->type.empty() && value_follows) ++i;
  }
  return words.size();
}

}  // namespace cairn::cli
