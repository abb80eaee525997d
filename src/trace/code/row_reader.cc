// Rows out of bytes: RowReader of row_code.h.
#include <bit>

#include "trace/code/row_code.h"
#include "trace/code/site_atoms.h"
#include "trace/model/poll_word.h"
#include "trace/values/atom_code.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
namespace {

bool bit(ByteView mask, uint64_t i) { return !mask.empty() && (mask[i / 8] >> (i % 8) & 1) != 0; }

}  // namespace

bool RowReader::bad(std::string what) {
  what_ = std::move(what);
  return false;
}

bool RowReader::read_shapes(ByteReader &in) {
  shapes_.resize(in.count(3));
  for (Shape &shape : shapes_) {
    if (!read_shape(in, &shape)) return false;
  }
  return !in.failed();
}

bool RowReader::read_shape(ByteReader &in, Shape *shape) {
  const uint64_t function = in.varint();
  const uint64_t depth = in.varint();
  if (function > UINT32_MAX || depth > UINT32_MAX) return bad("has a function that cannot be");
  shape->function = static_cast<uint32_t>(function);
  shape->depth = static_cast<uint32_t>(depth);
  shape->heads.resize(in.count());
  for (Shape::Head &head : shape->heads) {
    const uint64_t word = in.varint();
    const uint64_t count = word >> 2;
    if (word == 2 || word == 3) {
      head.field = {word == 2 ? FieldHead::text : FieldHead::table, 1};
      ++shape->codes;
      continue;
    }
    if (word == 6) {
      head.field = {FieldHead::moved, 0};
      continue;
    }
    if (word == kDrainingField) {
      const uint64_t first = in.varint();
      const uint64_t answer = in.varint();
      const size_t extra = answer != 0 ? 2 : 1;
      const bool possible = &head == &shape->heads.back() && first != 0 && first <= Draining::kMostFields &&
                            first + extra < shape->heads.size() && (answer == 0 || answer >= first) &&
                            answer + extra < shape->heads.size();
      if (in.failed() || !possible) return bad("has a malformed drain");
      head.field = {FieldHead::moved, 0};
      shape->cycle = cycle_of({static_cast<uint32_t>(first), static_cast<uint32_t>(answer)});
      continue;
    }
    if (word == 7) {
      head.field = {FieldHead::atoms, 0};
      head.is_array = true;
      ++shape->codes;
      continue;
    }
    if ((word & 3) == 3 && count >= kMovingBase) {
      if (count - kMovingBase > UINT32_MAX) return bad("has a malformed shape");
      head.field = {FieldHead::atoms, static_cast<uint32_t>(count - kMovingBase)};
      shape->codes += head.field.count;
      const ByteView columns = in.raw((uint64_t{head.field.count} + 7) / 8);
      head.columns.assign(columns.begin(), columns.end());
      const ByteView moving = in.raw((uint64_t{head.field.count} + 7) / 8);
      head.moving.assign(moving.begin(), moving.end());
      continue;
    }
    if ((word & 3) == 3) {
      if (count - 1 > PollWord::kLongestCycle || &head != &shape->heads.back()) return bad("has a malformed count");
      head.field = {FieldHead::moved, 0};
      shape->cycle = static_cast<uint32_t>(count - 1);
      continue;
    }
    if ((word & 3) == 2 && word >= 14 && count - 2 <= pool_.columns.size()) {
      head.field = {FieldHead::atoms, static_cast<uint32_t>(count - 2)};
      head.successive = true;
      ++shape->codes;
      continue;
    }
    if (count > UINT32_MAX || (word & 2) != 0) return bad("has a malformed shape");
    head.field = {FieldHead::atoms, static_cast<uint32_t>(count)};
    shape->codes += count;
    if ((word & 1) == 0) continue;
    const ByteView mask = in.raw((count + 7) / 8);
    head.columns.assign(mask.begin(), mask.end());
  }
  for (size_t f = 0; shape->cycle >= kDraining && f < shape->heads.size(); ++f) {
    const bool by_call = f >= (shape->cycle - kDraining) / 256;
    if (by_call && shape->heads[f].field.kind != FieldHead::moved) return bad("has a malformed drain");
  }
  for (const Shape::Head &head : shape->heads) {
    for (const uint8_t byte : head.columns) shape->columns += static_cast<unsigned>(std::popcount(byte));
  }
  return !in.failed();
}

bool RowReader::read_codes(ByteReader &in, uint32_t site, Shape *shape, std::vector<uint64_t> *codes) {
  if (const std::vector<uint64_t> *base = shape->last.find(site); base != nullptr) {
    *codes = *base;
    const ByteView mask = in.raw((shape->codes + 7) / 8);
    if (in.failed()) return bad("has a row that is cut short");
    for (uint64_t i = 0; i < shape->codes; ++i) {
      if (bit(mask, i)) (*codes)[i] = in.varint();
    }
  } else {
    if (shape->codes > in.remaining()) return bad("has a row that is cut short");
    codes->assign(shape->codes, 0);
    for (uint64_t &code : *codes) code = in.varint();
  }
  shape->last.put(site, *codes);
  return !in.failed();
}

RowPointer RowReader::read(ByteReader &in, const std::vector<uint32_t> &sites) {
  const uint64_t shape_number = in.varint();
  const uint64_t site = in.varint();
  if (in.failed()) return nullptr;
  if (shape_number >= shapes_.size()) return bad("has a row of a shape that does not exist"), nullptr;
  if (site > sites.size()) return bad("has a row with a site that its class lacks"), nullptr;
  Shape &shape = shapes_[shape_number];
  const uint32_t base = site_in_trace(static_cast<uint32_t>(site), sites);
  if (!read_codes(in, base, &shape, &codes_)) return nullptr;
  return made(shape, static_cast<uint32_t>(site), in.position());
}

RowPointer RowReader::read_value(ByteReader &in) {
  if (following_ == 0) {
    ByteReader ahead = in;
    const uint64_t shape_number = ahead.varint();
    const uint64_t count = ahead.varint();
    if (count == 0 || ahead.failed()) return read(in, {});
    in = ahead;
    const bool can_follow = shape_number < shapes_.size() && shapes_[shape_number].codes != 0 &&
                            shapes_[shape_number].last.find(0) != nullptr;
    if (!can_follow) return bad("has values that follow nothing"), nullptr;
    following_ = count;
    following_shape_ = shape_number;
  }
  --following_;
  Shape &shape = shapes_[following_shape_];
  codes_ = *shape.last.find(0);
  ++codes_.back();
  shape.last.put(0, codes_);
  return made(shape, 0, in.position());
}

RowPointer RowReader::made(const Shape &shape, uint32_t site, size_t position) {
  auto row = std::make_shared<ClassRow>();
  row->function = shape.function;
  row->depth = shape.depth;
  row->cycle = shape.cycle;
  row->site = site;
  const uint64_t *code = codes_.data();
  moving_.clear();
  row->heads.reserve(shape.heads.size());
  row->atoms.reserve(shape.codes);
  row->varied.reserve(shape.columns);
  for (const Shape::Head &head : shape.heads) {
    row->heads.push_back(head.field);
    if (head.field.kind == FieldHead::text) {
      if (*code >= pool_.values.size()) return bad("has a row that refers to a value that does not exist"), nullptr;
      row->texts.push_back(pool_.values[*code++]);
      text_bytes_ += row->texts.back().size();
      // One large text in many rows would multiply.
      if (text_bytes_ > most_after(position)) {
        return bad("has too large texts"), nullptr;
      }
      continue;
    }
    if (head.field.kind == FieldHead::table) {
      if (*code >= pool_.tables.size()) return bad("has a row that refers to a table that does not exist"), nullptr;
      row->tables.push_back(pool_.tables[*code++]);
      continue;
    }
    if (head.is_array) {
      if (*code >= pool_.columns.size()) return bad("has a row that refers to a column that does not exist"), nullptr;
      const FoldColumn &column = *pool_.columns[*code++];
      // A column of a few bytes can hold millions of values, and many rows can name it.
      array_atoms_ += column.size();
      if (array_atoms_ > most_after(position)) {
        return bad("has too large arrays"), nullptr;
      }
      const std::vector<Atom> atoms = column.expand();
      row->heads.back().count = static_cast<uint32_t>(atoms.size());
      row->atoms.insert(row->atoms.end(), atoms.begin(), atoms.end());
      continue;
    }
    if (head.successive) {
      const uint64_t first = *code++;
      if (first > pool_.columns.size() || head.field.count > pool_.columns.size() - first) {
        return bad("has a row that refers to a column that does not exist"), nullptr;
      }
      array_atoms_ += head.field.count;
      if (array_atoms_ > most_after(position)) {
        return bad("has too large arrays"), nullptr;
      }
      for (uint32_t i = 0; i < head.field.count; ++i) {
        row->varied.push_back({static_cast<uint32_t>(row->atoms.size()), pool_.columns[first + i]});
        row->atoms.push_back(0);
      }
      continue;
    }
    for (uint32_t i = 0; i < head.field.count; ++i, ++code) {
      if (bit(head.moving, i) && !bit(head.columns, i)) {
        moving_.push_back(static_cast<uint32_t>(row->atoms.size()));
        row->atoms.push_back(SiteAtoms::moved(atom_of_code(*code), row->site));
        continue;
      }
      if (!bit(head.columns, i)) {
        row->atoms.push_back(atom_of_code(*code));
        continue;
      }
      if (*code >= pool_.columns.size()) return bad("has a row that refers to a column that does not exist"), nullptr;
      row->varied.push_back({static_cast<uint32_t>(row->atoms.size()), pool_.columns[*code]});
      row->atoms.push_back(0);
    }
  }
  return row;
}

}  // namespace cairn::trace
