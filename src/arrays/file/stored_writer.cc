#include "arrays/file/stored_writer.h"

#include <algorithm>

#include "arrays/file/byte_order.h"
#include "arrays/file/physical.h"
#include "arrays/file/split.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kAlignment = 512;

}  // namespace

uint64_t piece_at(const Region &region, const Variable *variable, size_t element, uint64_t split, uint64_t from) {
  // An element, rows of more and more axes, a run, runs of more and more levels: each holds some of the one before it.
  uint64_t unit = element;
  uint64_t group = element;
  const auto grow = [&](uint64_t next) {
    if (group > split) return;
    unit = group;
    group = next;
  };
  for (size_t i = variable == nullptr ? 0 : variable->shape.size(); i-- > 0;) {
    const uint64_t row = group * variable->shape[i];
    if (row >= region.run || region.run % row != 0) break;
    grow(row);
  }
  grow(region.run);
  for (int i = region.depth - 1; i >= 0; --i) grow(group * region.levels[static_cast<size_t>(i)].count);
  const uint64_t rest = group - from % group;
  if (group <= split) return rest;
  const uint64_t count = group / unit;
  const uint64_t most = std::max<uint64_t>(split / unit, 1);
  const uint64_t pieces = (count + most - 1) / most;
  return std::min(rest, (count + pieces - 1) / pieces * unit);
}

Result<StoredWriter> StoredWriter::create(const std::string &path, Bytes header, const Coding &coding, uint64_t split,
                                          const Chain &chain) {
  StoredWriter writer;
  Result<Parsed> parsed = parse_header(header);
  if (!parsed) return tl::unexpected(parsed.error());
  if (!parsed->header) return fail(ErrorKind::unreadable, "the file ends within its NetCDF header");
  writer.header_ = std::move(*parsed->header);
  writer.layout_ = Layout(writer.header_);
  writer.coding_ = coding;
  writer.split_ = std::clamp<uint64_t>(split, 64, kMostBlock);
  writer.references_ = References(chain);
  if (chain.most > 0) writer.index_.keep_replaced();
  writer.index_.header = std::move(header);
  writer.index_.data_begin = room_for_header(writer.header_, kAlignment);
  writer.index_.end = writer.index_.data_begin;
  Result<Draft> draft = Draft::create(path);
  if (!draft) return tl::unexpected(draft.error());
  writer.draft_ = std::move(*draft);
  return writer;
}

Result<void> StoredWriter::append(Block block, ByteView coded) {
  block.at_home = false;
  block.offset = index_.end;
  if (auto written = draft_->put(index_.end, coded); !written) return written;
  index_.end += coded.size();
  sequence_ = std::max(sequence_, block.sequence);
  if (!index_.add(std::move(block)))
    return fail(ErrorKind::unreadable, "a block is coded against one that is not there");
  return {};
}

Result<void> StoredWriter::write_piece(int variable, Regions regions, const uint8_t *data) {
  const Variable *owner = variable < 0 ? nullptr : &header_.variables[static_cast<size_t>(variable)];
  codec::Element element = codec::Element::u8;
  if (owner != nullptr) {
    const codec::Element own = element_of(owner->type);
    if (whole_elements(regions, layout_, header_.record_size, codec::size_of(own))) element = own;
  }
  Bytes values(bytes_of(regions));
  swap_bytes(data, values.data(), values.size(), codec::size_of(element));
  Bytes bytes;
  Block block = references_.append(header_, std::move(regions), {variable, owner, element, values, variable < 0, 0},
                                   coding_, ++sequence_, &bytes);
  return append(std::move(block), bytes);
}

Result<void> StoredWriter::write(int variable, std::span<const Region> regions, const uint8_t *data) {
  const Variable *owner = variable < 0 ? nullptr : &header_.variables[static_cast<size_t>(variable)];
  const size_t element = owner == nullptr ? 1 : size_of(owner->type);
  const uint64_t all = bytes_of(regions);
  const bool one = regions.size() == 1;
  for (uint64_t from = 0; from < all;) {
    const uint64_t most = one ? piece_at(regions.front(), owner, element, split_, from)
                              : std::max<uint64_t>(element, split_ / element * element);
    const uint64_t bytes = std::min(most, all - from);
    if (auto written = write_piece(variable, cut(regions, from, bytes), data + from); !written) return written;
    from += bytes;
  }
  return {};
}

Result<void> StoredWriter::finish(int mode) {
  index_.end_chains();
  index_.drop_unneeded();
  if (std::optional<Index::Plan> plan = index_.plan(sizes_)) {
    if (auto written = draft_->put(index_.end, plan->bytes); !written) return written;
    index_.filed(std::move(*plan));
  }
  const Bytes packed = pack(index_);
  IndexPlace place{index_.end, packed.size(), hash64(packed), 0, Storage::dense};
  // The variable of compressed bytes ends with the file, and neither has to be padded.
  place.offset += (4 - (place.offset + place.size) % 4) % 4;
  size_ = place.offset + place.size;
  if (auto written = draft_->put(place.offset, packed); !written) return written;
  if (auto written = draft_->put(0, physical_header(header_, place, index_.data_begin, size_)); !written)
    return written;
  return draft_->keep(mode);
}

}  // namespace cairn::arrays
