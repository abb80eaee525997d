#include "arrays/file/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arrays/file/stored_file.h"
#include "base/whole.h"

namespace cairn::arrays {
namespace {

constexpr uint64_t kWindow = uint64_t{4} << 20;

/// The part of a region of at most one level that lies below `end`.
void clip(const Region &region, uint64_t end, Regions *out) {
  if (region.offset >= end) return;
  if (region.end() <= end) {
    out->push_back(region);
    return;
  }
  Region run;
  run.offset = region.offset;
  run.run = region.run;
  if (region.depth == 1) {
    const uint64_t stride = region.levels[0].stride;
    const uint64_t whole = end - region.offset < region.run ? 0 : (end - region.offset - region.run) / stride + 1;
    Region front = run;
    if (whole > 0 && front.repeat(whole, stride)) out->push_back(front);
    run.offset += whole * stride;
    if (run.offset >= end) return;
  }
  run.run = std::min(run.run, end - run.offset);
  out->push_back(run);
}

struct Stretch {
  uint64_t begin, end;
};

/// What of [begin, end) none of the stretches holds.
std::vector<Stretch> gaps(std::vector<Stretch> held, uint64_t begin, uint64_t end) {
  std::ranges::sort(held, {}, &Stretch::begin);
  std::vector<Stretch> gaps;
  for (const Stretch &each : held) {
    if (each.begin > begin && begin < end) gaps.push_back({begin, std::min(each.begin, end)});
    begin = std::max(begin, each.end);
  }
  if (begin < end) gaps.push_back({begin, end});
  return gaps;
}

}  // namespace

void PlainFile::Closer::operator()(const int *file) const {
  close(*file);
  delete file;
}

Result<PlainFile> PlainFile::open(const std::string &path) {
  PlainFile plain;
  const auto in_file = [&](Error error) {
    error.path = path;
    return tl::unexpected(std::move(error));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would make it wait
  if (file < 0) {
    return in_file(
        {ErrorKind::environment, std::string("cannot be opened: ") + strerror(errno), "", Error::kNoOffset, ""});
  }
  plain.file_.reset(new int(file));
  plain.path_ = path;
  Result<Header> header = read_header(file);
  if (!header) return in_file(header.error());
  plain.header_ = std::move(*header);
  struct stat status {};
  if (fstat(file, &status) == 0) plain.size_ = static_cast<uint64_t>(status.st_size);
  return plain;
}

Result<Bytes> PlainFile::header_bytes() const {
  Bytes bytes(header_.size);
  if (auto read = fill(0, bytes.data(), bytes.size()); !read) return tl::unexpected(read.error());
  return bytes;
}

Regions PlainFile::where(const Variable &variable) const {
  Regions regions;
  for (const Region &region : header_.where(variable)) clip(region, size_, &regions);
  return regions;
}

Regions PlainFile::between() const {
  std::vector<Stretch> fixed;
  std::vector<Stretch> record;
  for (const Variable &variable : header_.variables) {
    const uint64_t begin = variable.record ? variable.begin - header_.first_record : variable.begin;
    (variable.record ? record : fixed).push_back({begin, begin + variable.slab});
  }
  const bool records = header_.record_size != 0 && header_.records != 0;
  const uint64_t front = records ? std::min(size_, header_.first_record) : size_;
  Regions regions;
  const auto add = [&](const Stretch &gap, uint64_t offset, uint64_t count) {
    Region region;
    region.offset = gap.begin + offset;
    region.run = gap.end - gap.begin;
    if (region.repeat(count, header_.record_size)) clip(region, size_, &regions);
  };
  for (const Stretch &gap : gaps(std::move(fixed), header_.size, front)) add(gap, 0, 1);
  if (!records) return regions;
  for (const Stretch &gap : gaps(std::move(record), 0, header_.record_size)) {
    add(gap, header_.first_record, header_.records);
  }
  const uint64_t behind = header_.first_record + header_.records * header_.record_size;
  if (behind < size_) add({behind, size_}, 0, 1);
  return regions;
}

Result<void> PlainFile::fill(uint64_t offset, uint8_t *data, uint64_t bytes) const {
  size_t done = 0;
  const int error = read_at(*file_, offset, {data, bytes}, &done);
  if (error == 0 && done == bytes) return {};
  return tl::unexpected(
      Error{ErrorKind::environment,
            error == 0 ? "became shorter while it was read" : std::string("cannot be read: ") + strerror(error), path_,
            Error::kNoOffset, ""});
}

Result<void> PlainFile::read(std::span<const Region> regions, uint8_t *data) const {
  for (const Region &region : regions) {
    // Short runs close to each other: read what lies between them as well, many at a time.
    const bool dense = region.end() - region.offset <= 64 * region.bytes();
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      const Run &run = runs.run();
      if (!dense || run.bytes >= kWindow / 16) {
        if (auto filled = fill(run.offset, data, run.bytes); !filled) return filled;
      } else {
        if (run.offset < window_at_ || run.end() > window_at_ + window_.size()) {
          window_.resize(std::min(kWindow, size_ - run.offset));
          window_at_ = run.offset;
          if (auto filled = fill(window_at_, window_.data(), window_.size()); !filled) {
            window_.clear();
            return filled;
          }
        }
        memcpy(data, window_.data() + (run.offset - window_at_), run.bytes);
      }
      data += run.bytes;
    }
  }
  return {};
}

}  // namespace cairn::arrays
