#include "mpi/oracle/reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_set>

namespace cairn::oracle {
namespace {

constexpr uint64_t kMostConstants = 65536;

Error unreadable(std::string message, const std::string &path, uint64_t offset) {
  return Error{ErrorKind::unreadable, std::move(message), path, offset, "make the log again with record --oracle"};
}

std::vector<std::optional<std::string>> read_list(ByteReader &in) {
  std::vector<std::optional<std::string>> list;
  const size_t n = in.count();
  for (size_t i = 0; i < n && !in.failed(); ++i) {
    const uint64_t length = in.varint();
    if (length == 0) {
      list.emplace_back();
      continue;
    }
    const ByteView view = in.raw(length - 1 > in.remaining() ? in.remaining() + 1 : static_cast<size_t>(length - 1));
    list.emplace_back(std::string(reinterpret_cast<const char *>(view.data()), view.size()));
  }
  return list;
}

void read_words(ByteReader &in, size_t n, std::vector<uint64_t> *words) {
  words->reserve(n);
  for (size_t i = 0; i < n; ++i) words->push_back(in.fixed64());
}

LogValue read_value(ByteReader &in) {
  LogValue value;
  value.parameter = in.byte();
  const uint8_t tag = in.byte();
  value.after = (tag & kAfter) != 0;
  value.tag = static_cast<Tag>(tag & ~kAfter);
  switch (value.tag) {
    case Tag::value:
    case Tag::pointer:
    case Tag::special:
      read_words(in, 1, &value.words);
      break;
    case Tag::values:
    case Tag::pointers:
    case Tag::handles:
      read_words(in, in.count(8), &value.words);
      break;
    case Tag::errors:
      read_words(in, 2 * in.count(16), &value.words);
      break;
    case Tag::statuses:
      read_words(in, 5 * in.count(40), &value.words);
      break;
    case Tag::string:
      value.text = in.text();
      break;
    case Tag::strings:
      value.lists.push_back(read_list(in));
      break;
    case Tag::argvs: {
      const size_t n = in.count();
      for (size_t i = 0; i < n && !in.failed(); ++i) value.lists.push_back(read_list(in));
      break;
    }
    case Tag::null:
      break;
    default:
      in.fail();
  }
  return value;
}

}  // namespace

Result<LogFile> LogFile::open(const std::string &path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) {
    return tl::unexpected<Error>(
        Error{ErrorKind::environment, "cannot read the log", path, Error::kNoOffset, "check its permissions"});
  }
  Bytes bytes(static_cast<size_t>(size));
  in.seekg(0);
  in.read(reinterpret_cast<char *>(bytes.data()), size);
  if (!in) return tl::unexpected(unreadable("the log cannot be read to its end", path, 0));
  return from_bytes(std::move(bytes), path);
}

Result<LogFile> LogFile::from_bytes(Bytes bytes, std::string path) {
  LogFile log;
  if (bytes.size() < sizeof(Header)) return tl::unexpected(unreadable("the log is too short", path, bytes.size()));
  memcpy(&log.header_, bytes.data(), sizeof(Header));
  if (memcmp(log.header_.magic, kMagic, sizeof kMagic) != 0) {
    return tl::unexpected(unreadable("this is no oracle log", path, 0));
  }
  if (log.header_.version != kLogVersion) {
    return tl::unexpected(unreadable(
        "the log has version " + std::to_string(log.header_.version) + ", not " + std::to_string(kLogVersion), path,
        sizeof kMagic));
  }
  ByteReader in(bytes);
  in.raw(sizeof(Header));
  if (log.header_.constants > in.remaining() / 16) {
    return tl::unexpected(unreadable("the table of constants is cut short", path, in.position()));
  }
  for (uint32_t i = 0; i < log.header_.constants; ++i) {
    const uint64_t id = in.fixed64();
    const uint64_t value = in.fixed64();
    if (id >= kMostConstants) return tl::unexpected(unreadable("a constant's id is too large", path, in.position()));
    if (id >= log.constants_.size()) log.constants_.resize(id + 1);
    log.constants_[id] = value;
  }

  std::vector<LogRecord> open;
  std::unordered_set<uint64_t> ended;
  while (in.remaining() >= 4) {
    const uint32_t size = in.fixed32();
    if (size == 0) break;
    const size_t start = in.position();
    if (size > in.remaining()) {
      log.damaged_ = true;
      break;
    }
    ByteReader head(in.raw(size));
    LogRecord record;
    record.function = static_cast<uint32_t>(head.varint());
    record.depth = static_cast<uint32_t>(head.varint());
    record.begin = head.varint();
    record.end = head.varint();
    const uint64_t epoch = head.varint();
    const uint8_t state = head.byte();
    if (head.failed() || state > static_cast<uint8_t>(RecordState::open)) {
      log.damaged_ = true;
      break;
    }
    record.state = static_cast<RecordState>(state);
    if (epoch != 0) record.epoch = epoch - 1;
    record.first = start + head.position();
    record.last = start + size;
    if (record.state == RecordState::open) {
      open.push_back(record);
    } else {
      ended.insert(record.begin);
      log.records_.push_back(record);
    }
  }
  for (const LogRecord &record : open) {
    if (!ended.contains(record.begin)) log.records_.push_back(record);
  }
  log.bytes_ = std::move(bytes);
  log.path_ = std::move(path);
  return log;
}

std::vector<LogValue> LogFile::values(const LogRecord &record) const {
  std::vector<LogValue> values;
  ByteReader in(ByteView(bytes_).subspan(record.first, record.last - record.first));
  while (!in.at_end() && !in.failed()) values.push_back(read_value(in));
  if (in.failed()) values.clear();
  return values;
}

Result<std::vector<LogFile>> read_logs(const std::string &directory) {
  std::error_code error;
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".log") paths.push_back(at->path().string());
  }
  if (error) {
    return tl::unexpected<Error>(Error{ErrorKind::environment, "cannot read the folder of logs: " + error.message(),
                                       directory, Error::kNoOffset, "name the folder given to record --oracle"});
  }
  std::sort(paths.begin(), paths.end());
  std::vector<LogFile> logs;
  for (const std::string &path : paths) {
    Result<LogFile> log = LogFile::open(path);
    if (!log) return tl::unexpected(log.error());
    logs.push_back(std::move(*log));
  }
  if (logs.empty()) {
    return tl::unexpected<Error>(Error{ErrorKind::unreadable, "there are no oracle logs", directory, Error::kNoOffset,
                                       "name the folder given to record --oracle"});
  }
  return logs;
}

}  // namespace cairn::oracle
