#include "proxy/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "proxy/law.h"
#include "proxy/row_tables.h"

namespace cairn::proxy {

using spec::Layout;
using trace::Atom;

std::string scratch_name(std::string_view recorded) {
  // "ufs:/scratch/out": a name may begin with the file system's type.
  const size_t colon = recorded.find(':');
  const bool typed = colon != std::string_view::npos && recorded.find('/') > colon;
  const std::string plain(typed ? recorded.substr(colon + 1) : recorded);
  const uint64_t hash = hash64({reinterpret_cast<const uint8_t *>(plain.data()), plain.size()});
  return std::string(typed ? recorded.substr(0, colon + 1) : "") +
         fmt::format("{:08x}-{}", hash & 0xffffffffU, std::filesystem::path(plain).filename().string());
}

namespace {

bool is_handle(const FieldMeaning &meaning) {
  return meaning.parameter != nullptr && meaning.parameter->layout == Layout::handle;
}
std::string handles_function(spec::Kind kind) { return kind_word(kind) + "_numbers"; }

}  // namespace

std::string Streams::order(const std::string &variable, const grammar::Grammar &order) {
  const std::string text = terms_text(order);
  const auto [entry, added] = known_orders_.try_emplace(text);
  if (added) {
    entry->second = names_.unique(variable + "_order");
    tables_.raw(fmt::format("static const struct term {}[] = {{\n{}}};\n", entry->second, text));
  }
  return entry->second;
}

std::string Streams::opened(const std::string &order, const FieldMeaning &meaning, bool differences, bool stays) {
  if (is_handle(meaning)) {
    return fmt::format("open_handles({}, {}, {})", order, differences ? 1 : 0,
                       handles_function(meaning.parameter->kind));
  }
  return fmt::format("open_stream({}, {}, {})", order, differences ? 1 : 0, stays ? 1 : 0);
}

std::string Streams::flush(const std::string &variable, std::vector<std::string> *atoms, size_t width) {
  const size_t count = width == 0 ? atoms->size() : atoms->size() / width;
  std::string text;
  constexpr size_t kShort = 12;
  if (width == 0) {
    text = fmt::format("add_values({}, {}, 0, NULL);", variable, count);
  } else if (atoms->size() <= kShort) {
    std::string list;
    for (const std::string &each : *atoms) list += (list.empty() ? "" : ", ") + each;
    text = fmt::format("add_values({}, {}, {}, LIST({}));", variable, count, width, list);
  } else {
    std::string name = names_.unique(variable + "_values");
    tables_.raw(fmt::format("static const long long {}[] = {{\n{}}};\n", name, list_text(*atoms)));
    text = fmt::format("add_values({}, {}, {}, {});", variable, count, width, name);
  }
  atoms->clear();
  return text;
}

void Streams::packed_value(const std::string &variable, const Bytes &packed, const FieldMeaning &meaning,
                           std::vector<std::string> *out) {
  ByteReader in(packed);
  const trace::Field field = trace::unpack_field(in);
  FieldView view;
  view.kind = field.is_bytes ? FieldView::text : FieldView::atoms;
  view.bytes = &field.bytes;
  for (const Atom atom : field.atoms) view.slots.push_back({atom, nullptr});
  value(variable, view, meaning, &columns_, out);
}

void Streams::value(const std::string &variable, const FieldView &view, const FieldMeaning &meaning, Columns *columns,
                    std::vector<std::string> *out) {
  if (view.kind == FieldView::text) {
    const std::string text(view.bytes->begin(), view.bytes->end());
    out->push_back(
        fmt::format("add_text({}, {});", variable, string_literal(meaning.is_file ? scratch_name(text) : text)));
    return;
  }
  if (view.kind == FieldView::table) {
    const auto expanded = view.values->index().expand();
    out->push_back(fmt::format("switch ((int)({})) {{", columns->value(expanded)));
    for (size_t i = 0; i < view.values->values().size(); ++i) {
      out->push_back(fmt::format("case {}:", i));
      packed_value(variable, view.values->values()[i], meaning, out);
      out->push_back("break;");
    }
    out->push_back("}");
    return;
  }
  std::vector<std::string> atoms;
  const bool flags = meaning.parameter != nullptr && meaning.parameter->layout == Layout::flags;
  if (flags && view.slots.size() == 2 && view.slots[0].is_number() && view.slots[1].is_number()) {
    std::string text;
    const auto names = spec::domain(meaning.parameter->domain);
    for (size_t bit = 0; bit < names.size() && bit < 64; ++bit) {
      if ((static_cast<uint64_t>(view.slots[0].atom) >> bit & 1U) != 0) {
        text += (text.empty() ? "" : " | ") + std::string(spec::constants()[names[bit]].name);
      }
    }
    if (text.empty() || view.slots[1].atom != 0) text += (text.empty() ? "" : " | ") + plain_value(view.slots[1].atom);
    atoms.push_back(text);
  } else {
    for (const Slot &slot : view.slots) {
      if (slot.column == nullptr) program_.looks_up(slot.atom);
      atoms.push_back(slot.column == nullptr ? atom_value(slot.atom) : columns->value(slot.column->expand(), true));
    }
  }
  const size_t width = atoms.size();
  if (width == 0) {
    out->push_back(fmt::format("add_values({}, 1, 0, NULL);", variable));
    return;
  }
  out->push_back(flush(variable, &atoms, width));
}

void Streams::name_made(const FieldMeaning &meaning, Atom made) {
  if (trace::is_special(made)) return;
  const analyze::HandleName name = analyze::handle_name(made, 0, Layout::handle, scope_);
  program_.handles(meaning.parameter->kind, name);
  if (meaning.parameter->direction == spec::Direction::out) {
    program_.makes(meaning.parameter->kind, name);
  }
}

void Streams::register_names(const FieldMeaning &meaning, const trace::StreamVariant &variant) {
  if (!is_handle(meaning)) return;
  const auto pair_of = [](const std::vector<Slot> &slots, size_t i) {
    const bool marked = !slots.empty() && slots[0].is_special() && slots[0].constant() < 0 && slots.size() % 2 == 1;
    return i % 2 == (marked ? 1 : 0);
  };
  if (!variant.differences) {
    for (const trace::RowPointer &row : variant.values) {
      const FieldView view = fields_of(*row)[0];
      for (size_t i = 0; i < view.slots.size(); ++i) {
        if (!pair_of(view.slots, i)) continue;
        if (view.slots[i].column == nullptr) {
          name_made(meaning, view.slots[i].atom);
        } else {
          for (const Atom each : view.slots[i].column->expand()) name_made(meaning, each);
        }
      }
    }
    return;
  }
  std::vector<uint64_t> sums;
  std::set<Atom> seen;
  grammar::Walker walker(*variant.order);
  std::vector<std::vector<Slot>> values;
  for (const trace::RowPointer &row : variant.values) values.push_back(fields_of(*row)[0].slots);
  for (grammar::Symbol symbol = walker.next(); symbol != grammar::kNoSymbol; symbol = walker.next()) {
    if (symbol >= values.size()) return;
    const auto &slots = values[symbol];
    sums.resize(std::max(sums.size(), slots.size()));
    for (size_t i = 0; i < slots.size(); ++i) {
      const Atom step = slots[i].column == nullptr ? slots[i].atom : slots[i].column->at(0);
      if (trace::is_special(step)) continue;
      sums[i] += static_cast<uint64_t>(step);
      if (pair_of(slots, i) && seen.insert(static_cast<Atom>(sums[i])).second)
        name_made(meaning, static_cast<Atom>(sums[i]));
    }
  }
}

void Streams::select(const std::vector<Atom> &variant_of, std::vector<std::vector<std::string>> bodies) {
  if (bodies.size() == 1) {
    lines_.insert(lines_.end(), bodies[0].begin(), bodies[0].end());
    return;
  }
  lines_.push_back(fmt::format("switch ((int)({})) {{", columns_.value(variant_of)));
  for (size_t i = 0; i < bodies.size(); ++i) {
    lines_.push_back(fmt::format("case {}:", i));
    lines_.insert(lines_.end(), bodies[i].begin(), bodies[i].end());
    lines_.emplace_back("break;");
  }
  lines_.emplace_back("}");
}

std::string Streams::variable(const trace::Stream &stream, const FieldMeaning &meaning, const std::string &wanted,
                              bool stays) {
  const auto [entry, added] = known_.try_emplace(&stream);
  if (!added) return entry->second;
  std::string name = names_.unique(wanted);
  entry->second = name;
  variables_.push_back(name);
  std::vector<Atom> variant_of(part_.ranks.size(), 0);
  std::vector<std::vector<std::string>> bodies;
  for (size_t v = 0; v < stream.variants.size(); ++v) {
    const trace::StreamVariant &variant = stream.variants[v];
    register_names(meaning, variant);
    std::vector<uint32_t> ranks = variant.ranks.expand();
    std::vector<Atom> place_of(part_.ranks.size(), 0);
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto place = part_.ranks.index_of(ranks[i]);
      if (!place) continue;
      variant_of[*place] = static_cast<Atom>(v);
      place_of[*place] = static_cast<Atom>(i);
    }
    Columns own(
        &program_, std::move(ranks), [this, place_of] { return columns_.value(place_of); }, &tables_, &names_);
    std::vector<std::string> body;
    const bool once = stays && variant.order->length() == 1;
    body.push_back(
        fmt::format("{} = {};", name, opened(order(name, *variant.order), meaning, variant.differences, once)));
    // Values of one width that no rank has in another way stand together.
    std::vector<std::string> together;
    size_t width = 0;
    for (const trace::RowPointer &row : variant.values) {
      const FieldView view = fields_of(*row)[0];
      const bool flags = meaning.parameter != nullptr && meaning.parameter->layout == Layout::flags;
      const bool same =
          view.kind == FieldView::atoms && !view.slots.empty() && !flags &&
          std::all_of(view.slots.begin(), view.slots.end(), [](const Slot &s) { return s.column == nullptr; });
      if (!together.empty() && (!same || view.slots.size() != width)) body.push_back(flush(name, &together, width));
      if (!same) {
        value(name, view, meaning, &own, &body);
        continue;
      }
      width = view.slots.size();
      for (const Slot &slot : view.slots) {
        program_.looks_up(slot.atom);
        together.push_back(atom_value(slot.atom));
      }
    }
    if (!together.empty()) body.push_back(flush(name, &together, width));
    bodies.push_back(std::move(body));
  }
  select(variant_of, std::move(bodies));
  return name;
}

std::string Streams::chosen(const trace::ValuesColumn &values, const FieldMeaning &meaning, const std::string &wanted) {
  const auto [entry, added] = known_.try_emplace(&values);
  if (!added) return entry->second;
  std::string name = names_.unique(wanted);
  variables_.push_back(name);
  lines_.push_back(fmt::format("{} = {};", name, opened("NULL", meaning, false, false)));
  for (const Bytes &packed : values.values()) {
    if (is_handle(meaning)) {
      ByteReader in(packed);
      const trace::Field field = trace::unpack_field(in);
      for (size_t i = field.atoms.size() % 2; i < field.atoms.size(); i += 2) name_made(meaning, field.atoms[i]);
    }
    packed_value(name, packed, meaning, &lines_);
  }
  entry->second = fmt::format("chosen({}, {})", name, columns_.value(values.index().expand()));
  return entry->second;
}

std::string Streams::pairs(const std::vector<std::vector<std::pair<Atom, Atom>>> &by_rank, const std::string &wanted) {
  std::string name = names_.unique(wanted);
  variables_.push_back(name);
  std::map<std::vector<std::pair<Atom, Atom>>, size_t> variants;
  std::vector<Atom> variant_of;
  std::vector<std::vector<std::string>> bodies;
  for (const auto &sequence : by_rank) {
    const auto [entry, added] = variants.try_emplace(sequence, variants.size());
    variant_of.push_back(static_cast<Atom>(entry->second));
    if (!added) continue;
    std::map<std::pair<Atom, Atom>, grammar::Symbol> numbers;
    std::vector<grammar::Symbol> symbols;
    std::vector<std::string> atoms;
    for (const auto &each : sequence) {
      const auto [number, fresh] = numbers.try_emplace(each, static_cast<grammar::Symbol>(numbers.size()));
      symbols.push_back(number->second);
      if (!fresh) continue;
      for (const Atom atom : {each.first, each.second}) {
        program_.looks_up(atom);
        atoms.push_back(atom_value(atom));
      }
    }
    std::vector<std::string> body;
    body.push_back(
        fmt::format("{} = open_stream({}, 0, 0);", name, order(name, grammar::Grammar::from_symbols(symbols))));
    if (!atoms.empty()) body.push_back(flush(name, &atoms, 2));
    bodies.push_back(std::move(body));
  }
  select(variant_of, std::move(bodies));
  return name;
}

std::string Streams::plain(const trace::ValuesColumn &grammars, const std::string &wanted) {
  std::string name = names_.unique(wanted);
  variables_.push_back(name);
  std::vector<std::vector<std::string>> bodies;
  for (const Bytes &bytes : grammars.values()) {
    ByteReader in(bytes);
    std::map<grammar::Symbol, grammar::Symbol> numbers;
    std::vector<std::string> atoms;
    grammar::Grammar of;
    if (auto parsed = grammar::Grammar::parse(in)) of = *std::move(parsed);
    const grammar::Grammar dense = of.mapped([&](grammar::Symbol symbol) {
      const auto [entry, added] = numbers.try_emplace(symbol, static_cast<grammar::Symbol>(numbers.size()));
      if (added) atoms.push_back(plain_value(symbol));
      return entry->second;
    });
    std::vector<std::string> body;
    body.push_back(fmt::format("{} = open_stream({}, 0, 0);", name, order(name, dense)));
    if (!atoms.empty()) body.push_back(flush(name, &atoms, 1));
    bodies.push_back(std::move(body));
  }
  select(grammars.index().expand(), std::move(bodies));
  return name;
}

std::string Streams::opening() const {
  if (variables_.empty()) return {};
  Source out;
  for (const std::string &variable : variables_) out.line("static struct stream *" + variable + ";");
  out.line();
  out.open("static void open_streams(void)");
  write_lines(lines_, &out);
  out.close();
  out.line();
  return out.text();
}

std::string handle_numbers(const Program &program, spec::Kind kind, const analyze::RowScope &scope,
                           const std::string &name) {
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint64_t> sites;
  for (size_t i = scope.sites.size(); i-- > 0;) {
    const trace::Site &site = scope.sites[i];
    sites[{site.module, site.offset, site.caller}] = i;
  }
  std::string cases;
  for (const auto &[key, what] : program.all()) {
    if (key.first != kind) continue;
    const trace::Site &site = key.second.site;
    const auto found = sites.find({site.module, site.offset, site.caller});
    if (found == sites.end()) continue;
    uint64_t made = found->second;
    cases += fmt::format("    case {}: return {}; /* {} */\n", made | uint64_t{key.second.thread + 1} << 32, what.first,
                         what.second);
    if (key.second.thread == scope.thread) cases += fmt::format("    case {}: return {};\n", made, what.first);
  }
  return fmt::format(
      "static long long {}(long long made) {{\n  switch (made) {{\n{}    default: return {};\n  }}\n}}\n\n", name,
      cases, program.all().size());
}

}  // namespace cairn::proxy
