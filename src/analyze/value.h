// Value: one argument of a call as a reader sees it: a number, a name, a quoted string, a list or a record. Made by
// decode.h from a field's atoms; printed as text or as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::analyze {

/// The symbol for an outcome that is what the call asked for.
constexpr const char *kImplied = "implied";

/// Of MPI's, by its id.
std::string constant_name(int id);

struct Value {
  enum class Kind : uint8_t {
    absent,   ///< not significant on this rank, or not valid after the call
    integer,  ///< `number`
    boolean,  ///< `number`, 0 or 1
    real,     ///< `real`
    symbol,   ///< `text`, printed bare: a constant, handle or address
    string,   ///< `text`, printed in quotes
    list,     ///< `items`
    record,   ///< `items`, named by `keys`
    change,   ///< two `items`: before the call and after it
  };
  Kind kind = Kind::absent;
  int64_t number = 0;
  double real = 0;
  std::string text{};
  std::vector<Value> items{};
  std::vector<const char *> keys{};
  bool operator==(const Value &) const = default;

  static Value integer(int64_t number);
  static Value boolean(bool is_so);
  static Value floating(double number);
  static Value symbol(std::string text);
  static Value string(std::string text);
  static Value list(std::vector<Value> items);
  static Value change(Value before, Value after);

  void append_text(std::string &out) const;
  [[nodiscard]] nlohmann::ordered_json json() const;
};

}  // namespace cairn::analyze
