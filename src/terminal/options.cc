#include "terminal/options.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace cairn::cli {

Options::Options(CLI::App &app, const std::string &name, const std::string &help)
    : verb_(app.add_subcommand(name, help)) {}

void Options::flag(const std::string &names, bool &value, const std::string &help) {
  verb_->add_flag(names, value, help);
}

void Options::text(const std::string &names, std::string &value, const std::string &help, const std::string &type) {
  CLI::Option *option = verb_->add_option(names, value, help);
  if (!type.empty()) option->type_name(type);
}

void Options::choice(const std::string &names, std::string &value, const std::vector<std::string> &allowed,
                     const std::string &help, const std::string &type) {
  verb_->add_option(names, value, help)->check(CLI::IsMember(allowed))->type_name(type);
}

void Options::number(const std::string &names, std::optional<uint64_t> &value, const std::string &help,
                     const std::string &type) {
  verb_->add_option(names, value, help)->type_name(type);
}

void Options::real(const std::string &names, std::optional<double> &value, const std::string &help,
                   const std::string &type) {
  verb_->add_option(names, value, help)->type_name(type);
}

void Options::repeated(const std::string &names, std::vector<std::string> &values, const std::string &help,
                       const std::string &type) {
  verb_->add_option(names, values, help)->type_name(type)->allow_extra_args(false);
}

void Options::needed(const std::string &name, std::string &value, const std::vector<std::string> &allowed,
                     const std::string &help) {
  verb_->add_option(name, value, help)->required()->check(CLI::IsMember(allowed));
}

void Options::one(const std::string &name, std::string &value, const std::string &help) {
  verb_->add_option(name, value, help)->required();
}

void Options::words(const std::string &name, std::vector<std::string> &values, const std::string &help) {
  verb_->add_option(name, values, help)->required();
}

void Options::chosen(std::function<void()> action) { verb_->callback(std::move(action)); }

size_t command_start(const CLI::App &verb, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "--" || word.size() < 2 || word[0] != '-') return i;
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const CLI::Option *option = verb.get_option_no_throw(is_long ? word.substr(0, equals) : word.substr(0, 2));
    const bool value_follows = equals == std::string::npos && (is_long || word.size() == 2);
    if (option != nullptr && option->get_items_expected_max() > 0 && value_follows) ++i;
  }
  return words.size();
}

}  // namespace cairn::cli
