#include "arrays/file/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "arrays/file/recover.h"
#include "arrays/file/stored_writer.h"
#include "arrays/testing/random_file.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSession = 0x1234567890ABCDEF;

class File {
 public:
  File() {
    std::string name = (fs::temp_directory_path() / "journal-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) abort();
    close(file);
    path_ = name;
  }
  ~File() { fs::remove(path_); }
  [[nodiscard]] const std::string &path() const { return path_; }
  [[nodiscard]] Bytes bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set(ByteView bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_;
};

Block block_at(uint64_t offset, uint64_t size, uint64_t sequence) {
  Region region;
  region.offset = offset;
  region.run = 40;
  Block block;
  block.regions = {region};
  block.shape = {40};
  block.sequence = sequence;
  block.offset = offset * 2;
  block.size = size;
  return block;
}

void append(Bytes *to, ByteView bytes) { to->insert(to->end(), bytes.begin(), bytes.end()); }

std::vector<JournalRecord> records_in(const File &file, ByteView bytes) {
  file.set(bytes);
  const int number = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<JournalRecord> records;
  const Result<void> read = read_journal(number, kSession, {10, bytes.size() - 10},
                                         [&](JournalRecord r) { records.push_back(std::move(r)); });
  close(number);
  EXPECT_TRUE(read.has_value());
  return records;
}

TEST(Journal, FindsRecordsOfItsSessionAmongOtherBytes) {
  const File file;
  std::mt19937 random(1);
  Bytes bytes;
  const auto noise = [&](size_t size) {
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(random()));
  };
  const std::vector<std::string> names = {"mine"};
  noise(5000);
  const std::vector<Block> first = {block_at(100, 30, 7), block_at(500, 31, 8)};
  const std::vector<Block> second = {block_at(900, 20, 9)};
  Bytes placed = journal_record(kSession, first, names);
  set_base(placed, 5000);
  append(&bytes, placed);
  noise(3);
  append(&bytes, journal_record(kSession + 1, first, {}));  // of another session
  append(&bytes, Bytes(placed.begin(), placed.end() - 1));  // cut short
  noise((4 << 20) - 6000 - bytes.size() % 100);             // so that the next lies across a window's seam
  append(&bytes, journal_record(kSession, second, {}));
  const std::vector<JournalRecord> records = records_in(file, bytes);
  ASSERT_EQ(records.size(), 2U);
  ASSERT_EQ(records[0].blocks.size(), 2U);
  EXPECT_EQ(records[0].user_codecs, names);
  EXPECT_EQ(records[0].blocks[1].offset, 5000 + 1000U);
  EXPECT_EQ(records[0].blocks[1].regions, first[1].regions);
  ASSERT_EQ(records[1].blocks.size(), 1U);
  EXPECT_EQ(records[1].blocks[0].offset, 1800U);
  EXPECT_EQ(records[1].blocks[0].sequence, 9U);
}

TEST(Journal, FindsRecordsWhereverAWindowEnds) {
  const File file;
  const Bytes record = journal_record(kSession, std::vector<Block>{block_at(100, 30, 7)}, {});
  for (size_t before = 0; before < 20; ++before) {
    Bytes bytes(10 + (4 << 20) - before, 1);
    append(&bytes, record);
    ASSERT_EQ(records_in(file, bytes).size(), 1U) << before;
  }
}

TEST(Journal, TakesNoDamagedRecord) {
  const File file;
  const std::vector<Block> blocks = {block_at(100, 30, 7), block_at(500, 31, 8)};
  const Bytes record = journal_record(kSession, blocks, {});
  for (size_t i = 0; i < record.size(); ++i) {
    Bytes bytes(10, 0);
    append(&bytes, record);
    bytes[10 + i] ^= 0x10;
    EXPECT_TRUE(records_in(file, bytes).empty()) << i;
  }
}

/// A file of which the last blocks and their index are gone, but not what the journal told of them: as its job was
/// killed. `values`: what it holds.
struct Killed {
  Bytes file;
  std::vector<Block> lost;
};

Killed killed_file(const File &file, uint32_t chain, Bytes *values) {
  Header header;
  header.records = 2;
  header.dimensions = {{"time", 0}, {"x", 100}};
  header.variables.resize(1);
  header.variables[0] = {"v", NcType::int32, {0, 1}, {}, 1024, false, {}, 0};
  auto writer =
      StoredWriter::create(file.path(), write_header(header),
                           {*codec::parse_array_codec(chain == 0 ? "store" : "delta"), nullptr}, 4096, Chain{chain});
  EXPECT_TRUE(writer.has_value());
  std::mt19937 random(3);
  values->assign(size_t{6} * 400, 0);
  for (uint64_t step = 0; step < 6; ++step) {
    Region region;
    region.offset = 1024 + step * 400;
    region.run = 400;
    for (size_t i = 0; i < 400; i += 4) {
      (*values)[step * 400 + i + 2] = static_cast<uint8_t>(i * 37);
      (*values)[step * 400 + i + 3] = static_cast<uint8_t>(random() % 4);
    }
    EXPECT_TRUE(writer->write(0, {&region, 1}, values->data() + step * 400).has_value());
  }
  const Index whole = writer->index();
  EXPECT_TRUE(writer->finish().has_value());
  Killed killed;
  killed.file = file.bytes();
  killed.lost = {whole.blocks().begin() + 2, whole.blocks().end()};
  // What its last sync knew: two records.
  Index index;
  index.header = whole.header;
  index.data_begin = whole.data_begin;
  index.home = whole.home;
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(index.add(whole.blocks()[i]));
  index.end = index.blocks().back().offset + index.blocks().back().size;
  const Bytes packed = pack(index);
  const IndexPlace place{killed.file.size(), packed.size(), hash64(packed), kSession, {}};
  append(&killed.file, packed);
  const Bytes front = physical_header(*parse_header(index.header)->header, place, index.data_begin, killed.file.size());
  std::ranges::copy(front, killed.file.begin());
  return killed;
}

TEST(Recovery, BringsBackWhatWasWrittenSinceTheLastIndex) {
  for (const uint32_t chain : {0U, 8U}) {
    const File file;
    Bytes values;
    Killed killed = killed_file(file, chain, &values);
    if (chain > 0) {
      EXPECT_NE(killed.lost.back().reference, 0U);
    }
    for (const Block &block : killed.lost) append(&killed.file, journal_record(kSession, {&block, 1}, {}));
    file.set(killed.file);
    const auto check = [&](bool closed, uint64_t unlisted) {
      const Result<StoredFile> stored = StoredFile::open(file.path());
      ASSERT_TRUE(stored.has_value()) << stored.error().message;
      EXPECT_EQ(stored->closed(), closed);
      EXPECT_EQ(stored->unlisted().blocks, unlisted);
      ASSERT_EQ(stored->header().records, 6U);
      Bytes data(values.size());
      const Regions all = stored->header().where(stored->header().variables[0]);
      ASSERT_TRUE(stored->read(all, data.data()).has_value());
      EXPECT_EQ(data, values);
    };
    check(false, 4);
    const Result<Recovery> recovered = recover(file.path());
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    EXPECT_FALSE(recovered->was_closed);
    EXPECT_EQ(recovered->found.blocks, 4U);
    EXPECT_EQ(recovered->found.bytes, 1600U);
    check(true, 0);
    const Bytes once = file.bytes();
    const Result<Recovery> again = recover(file.path());
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->was_closed);
    EXPECT_EQ(file.bytes(), once);
  }
}

/// What is replaced when the job is killed is needed all the same: by blocks of the journal, which no index names.
TEST(Recovery, BringsBackWhatIsCodedAgainstReplacedBlocks) {
  const File file;
  Bytes values;
  Killed killed = killed_file(file, 8, &values);
  // The same blocks, with room for a sequence number in front of what was lost.
  Index index;
  std::vector<Block> blocks;
  {
    file.set(killed.file);
    const Result<StoredFile> stored = StoredFile::open(file.path());
    ASSERT_TRUE(stored.has_value());
    index.header = stored->index().header;
    index.data_begin = stored->index().data_begin;
    index.home = stored->index().home;
    blocks = stored->index().blocks();
  }
  blocks.insert(blocks.end(), killed.lost.begin(), killed.lost.end());
  ASSERT_EQ(blocks.size(), 6U);
  for (Block &block : blocks) {
    block.sequence *= 10;
    block.reference *= 10;
    block.replaced = false;
  }
  ASSERT_EQ(blocks[2].reference, blocks[1].sequence);
  index.keep_replaced();
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(index.add(blocks[i]));
  // The second is written anew, and is in a segment of the index by then.
  index.end = killed.file.size();
  IndexSizes sizes;
  sizes.segment = 1;
  std::optional<Index::Plan> plan = index.plan(sizes);
  ASSERT_TRUE(plan.has_value());
  append(&killed.file, plan->bytes);
  index.filed(std::move(*plan));
  Block again = blocks[1];
  again.sequence = 25;
  again.reference = 0;
  again.codec = codec::kStore;
  again.size = 400;
  again.offset = killed.file.size();
  Bytes bytes(400);
  for (size_t i = 0; i < 400; i += 4) {
    bytes[i] = static_cast<uint8_t>(i);
    values[400 + i] = values[400 + i + 1] = values[400 + i + 2] = 0;
    values[400 + i + 3] = static_cast<uint8_t>(i);
  }
  again.checksum = hash64(bytes);
  append(&killed.file, bytes);
  ASSERT_TRUE(index.add(again));
  index.end = killed.file.size();
  const Bytes packed = pack(index);
  const IndexPlace place{killed.file.size(), packed.size(), hash64(packed), kSession, {}};
  append(&killed.file, packed);
  const Bytes front = physical_header(*parse_header(index.header)->header, place, index.data_begin, killed.file.size());
  std::ranges::copy(front, killed.file.begin());
  append(&killed.file, journal_record(kSession, std::span(blocks).subspan(2), {}));
  file.set(killed.file);
  const auto check = [&](StoredFile::Take take, uint64_t unlisted) {
    const Result<StoredFile> stored = StoredFile::open(file.path(), take);
    ASSERT_TRUE(stored.has_value()) << stored.error().message;
    EXPECT_EQ(stored->unlisted().blocks, unlisted);
    ASSERT_EQ(stored->header().records, 6U);
    Bytes data(values.size());
    const Regions all = stored->header().where(stored->header().variables[0]);
    const Result<void> read = stored->read(all, data.data());
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(data, values);
  };
  check(StoredFile::Take::all, 4);
  check(StoredFile::Take::as_needed, 4);
  ASSERT_TRUE(recover(file.path()).has_value());
  check(StoredFile::Take::all, 0);
  check(StoredFile::Take::as_needed, 0);
}

TEST(Recovery, LeavesOutBlocksWhoseBytesAreNotThere) {
  const File file;
  Bytes values;
  Killed killed = killed_file(file, 8, &values);
  for (const Block &block : killed.lost) append(&killed.file, journal_record(kSession, {&block, 1}, {}));
  killed.file[killed.lost[1].offset + 2] ^= 1;
  file.set(killed.file);
  const Result<StoredFile> stored = StoredFile::open(file.path());
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  // The damaged one, and those that are coded against it.
  EXPECT_EQ(stored->unlisted().blocks, 1U);
  EXPECT_EQ(stored->header().records, 3U);
}

TEST(Recovery, TakesNoBlockOlderThanTheIndex) {
  const File file;
  Bytes values;
  Killed killed = killed_file(file, 0, &values);
  Block old = killed.lost.back();
  old.sequence = 1;
  append(&killed.file, journal_record(kSession, {&old, 1}, {}));
  append(&killed.file, journal_record(kSession + 1, killed.lost, {}));  // another session's
  file.set(killed.file);
  const Result<StoredFile> stored = StoredFile::open(file.path());
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->unlisted().blocks, 0U);
  EXPECT_EQ(stored->header().records, 2U);
}

}  // namespace
}  // namespace cairn::arrays
