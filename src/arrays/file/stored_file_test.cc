#include "arrays/file/stored_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "arrays/file/plain_file.h"
#include "arrays/file/stored_writer.h"
#include "arrays/file/usage.h"
#include "arrays/testing/random_file.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "stored-file-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string &name) const { return (path_ / name).string(); }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

Bytes read_all(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_all(const std::string &path, ByteView bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// What the virtual file is to be, filled along with the writes.
struct Model {
  Bytes bytes;
  void put(const Region &region, const uint8_t *data) {
    bytes.resize(std::max<size_t>(bytes.size(), region.end()));
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      std::copy_n(data + runs.position(), runs.run().bytes, bytes.begin() + static_cast<ptrdiff_t>(runs.run().offset));
    }
  }
  [[nodiscard]] Bytes get(const Region &region) const {
    Bytes data;
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      for (uint64_t i = 0; i < runs.run().bytes; ++i) {
        const uint64_t at = runs.run().offset + i;
        data.push_back(at < bytes.size() ? bytes[at] : 0);
      }
    }
    return data;
  }
};

Coding coding(const char *words) { return {*codec::parse_array_codec(words), nullptr}; }

/// Random boxes of random variables, many of them over each other.
Model write_random(const std::string &path, std::mt19937 *random, int writes, uint64_t split) {
  const char *const codecs[] = {"auto", "zstd", "shuffle+zstd", "store"};
  Bytes header = random_header(random, 1 + (*random)() % 5);
  Model model{header};
  const uint32_t chain = (*random)() % 2 == 0 ? 0 : (*random)() % 4;
  auto writer = StoredWriter::create(path, std::move(header), coding(codecs[(*random)() % 4]), split, Chain{chain});
  EXPECT_TRUE(writer.has_value());
  if ((*random)() % 2 == 0) writer->set_index_sizes({1 + (*random)() % 4});
  for (int i = 0; i < writes; ++i) {
    const size_t variable = (*random)() % writer->header().variables.size();
    const Region box = random_box(writer->header(), writer->header().variables[variable], random);
    Bytes data(box.bytes());
    for (uint8_t &byte : data) byte = static_cast<uint8_t>((*random)() % 5);
    EXPECT_TRUE(writer->write(static_cast<int>(variable), {&box, 1}, data.data()).has_value());
    model.put(box, data.data());
  }
  EXPECT_TRUE(writer->finish().has_value());
  EXPECT_EQ(fs::file_size(path), writer->size());
  return model;
}

TEST(StoredFile, GivesWhatWasWrittenLast) {
  const Folder folder;
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const std::string path = folder / "a.nc";
    const Model model = write_random(path, &random, 12, 64 + random() % 1000);
    const Result<StoredFile> file = StoredFile::open(path);
    ASSERT_TRUE(file.has_value());
    const Header &header = file->header();
    EXPECT_EQ(file->index().virtual_end(), model.bytes.size());
    for (int j = 0; j < 20; ++j) {
      const Region box = random_box(header, header.variables[random() % header.variables.size()], &random);
      Bytes data(box.bytes(), 0xEE);
      ASSERT_TRUE(file->read({&box, 1}, data.data()).has_value());
      ASSERT_EQ(data, model.get(box));
    }
    Region whole;
    whole.offset = header.size;
    whole.run = model.bytes.size() - header.size;
    if (whole.run == 0) continue;
    Bytes data(whole.run);
    ASSERT_TRUE(file->read({&whole, 1}, data.data()).has_value());
    ASSERT_TRUE(std::equal(data.begin(), data.end(), model.bytes.begin() + static_cast<ptrdiff_t>(header.size)));
  }
}

TEST(StoredFile, IsAFileThatNetCdfToolsCanRead) {
  const Folder folder;
  std::mt19937 random(2);
  write_random(folder / "a.nc", &random, 12, 200);
  const Bytes bytes = read_all(folder / "a.nc");
  const Result<Parsed> parsed = parse_header(bytes);
  ASSERT_TRUE(parsed && parsed->header);
  const Variable &data = parsed->header->variables.back();
  EXPECT_EQ(data.name, "cairn_data");
  EXPECT_EQ(data.begin + data.slab, bytes.size());
  EXPECT_EQ(bytes.size() % 4, 0U);
}

TEST(StoredFile, CutAnywhereIsAnError) {
  const Folder folder;
  std::mt19937 random(3);
  write_random(folder / "a.nc", &random, 6, 100);
  const Bytes good = read_all(folder / "a.nc");
  for (size_t size = 0; size < good.size(); ++size) {
    write_all(folder / "cut.nc", {good.data(), size});
    const Result<StoredFile> file = StoredFile::open(folder / "cut.nc");
    ASSERT_FALSE(file.has_value()) << size;
    EXPECT_EQ(file.error().kind, ErrorKind::unreadable) << size;
    EXPECT_EQ(file.error().path, folder / "cut.nc");
    ASSERT_THAT(file.error().message, testing::AnyOf(HasSubstr("header"), HasSubstr("index"))) << size;
  }
}

TEST(StoredFile, FlippedBitsAreFoundOrChangeNothing) {
  const Folder folder;
  std::mt19937 random(8);
  const Model model = write_random(folder / "a.nc", &random, 30, 100);
  uint64_t held = 0;
  {
    const Result<StoredFile> file = StoredFile::open(folder / "a.nc");
    ASSERT_TRUE(file.has_value());
    for (const Block &block : file->index().blocks()) held += block.size;
  }
  const Bytes good = read_all(folder / "a.nc");
  Region whole;
  whole.offset = 0;
  whole.run = model.bytes.size();
  size_t in_blocks = 0;
  size_t before = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    Bytes bytes = good;
    bytes[at] ^= static_cast<uint8_t>(1U << (at % 8));
    write_all(folder / "flipped.nc", bytes);
    const Result<StoredFile> file = StoredFile::open(folder / "flipped.nc");
    if (!file) {
      ++before;
      ASSERT_EQ(file.error().kind, ErrorKind::unreadable) << at << file.error().message;
      ASSERT_THAT(file.error().message, testing::AnyOf(HasSubstr("header"), HasSubstr("index"), HasSubstr("NetCDF")))
          << at;
      continue;
    }
    Bytes data(whole.run);
    const Result<void> read = file->read({&whole, 1}, data.data());
    if (!read) {
      ++in_blocks;
      ASSERT_THAT(read.error().message, testing::AllOf(HasSubstr("variable 'v"), HasSubstr("block "))) << at;
    } else {
      std::copy(file->index().header.begin(), file->index().header.end(), data.begin());
      ASSERT_EQ(data, model.bytes) << at;
    }
  }
  EXPECT_GT(before, 50U);
  EXPECT_EQ(in_blocks, held);
  EXPECT_GT(held, 100U);
}

/// A file of one variable whose blocks lie where their values would: as the sparse layout writes it.
Bytes sparse_file(Bytes *values, bool earlier = false) {
  Header virtual_header;
  virtual_header.dimensions = {{"y", 8}, {"x", 64}};
  virtual_header.variables.resize(1);
  virtual_header.variables[0] = {"v0", NcType::int32, {0, 1}, {}, 512, false, {}, 0};
  Index index;
  index.header = write_header(virtual_header);
  const Header header = *parse_header(index.header)->header;
  const uint64_t data_begin = room_for_header(header, 512);
  index.data_begin = data_begin;
  index.home = data_begin - 512;
  index.end = index.home + header.end();
  Bytes file(index.end, 0);
  values->assign(header.end() - 512, 0);
  for (size_t i = 3; i < values->size(); i += 4) (*values)[i] = static_cast<uint8_t>(i / 50);
  // The left and the right half: each run is half a row, so that coded bytes lie in several runs.
  for (uint64_t half = 0; half < 2; ++half) {
    Block block;
    Region region;
    region.offset = 512 + half * 128;
    region.run = 128;
    EXPECT_TRUE(region.repeat(8, 256));
    block.regions = {region};
    block.element = codec::Element::i32;
    block.shape = {8, 32};
    block.at_home = true;
    Bytes little;
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      for (uint64_t i = 0; i < 128; ++i) little.push_back((*values)[runs.run().offset - 512 + (i / 4 * 4 + 3 - i % 4)]);
    }
    const Coded coded = encode(little, {block.element, block.shape, {}}, coding("store"), true, 0);
    block.codec = coded.codec;
    block.size = coded.bytes.size();
    block.checksum = hash64(coded.bytes);
    size_t taken = 0;
    for (const Run &run : places(block, index.home)) {
      std::copy_n(coded.bytes.begin() + static_cast<ptrdiff_t>(taken), run.bytes,
                  file.begin() + static_cast<ptrdiff_t>(run.offset));
      taken += run.bytes;
    }
    EXPECT_EQ(taken, block.size);
    EXPECT_TRUE(index.add(std::move(block)));
  }
  const Bytes packed = pack(index);
  IndexPlace place{file.size(), packed.size(), hash64(packed)};
  place.earlier = earlier;
  file.insert(file.end(), packed.begin(), packed.end());
  const Bytes front = physical_header(header, place, data_begin, file.size());
  std::copy(front.begin(), front.end(), file.begin());
  return file;
}

TEST(StoredFile, ReadsBlocksAtHome) {
  const Folder folder;
  Bytes values;
  write_all(folder / "a.nc", sparse_file(&values));
  const Result<StoredFile> file = StoredFile::open(folder / "a.nc");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Regions where = file->header().where(file->header().variables[0]);
  Bytes data(bytes_of(where));
  const Result<void> read = file->read(where, data.data());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(data, values);
}

/// Their scalars have the names of the variables, and they do not say where their data began.
TEST(StoredFile, ReadsFilesOfEarlierCairns) {
  const Folder folder;
  Bytes values;
  write_all(folder / "a.nc", sparse_file(&values, true));
  const Result<StoredFile> file = StoredFile::open(folder / "a.nc");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->physical().attribute(kBegin), nullptr);
  EXPECT_EQ(file->physical().variables[0].name, file->header().variables[0].name);
  EXPECT_EQ(file->changes_of_header(), std::vector<std::string>());
  const Bytes front = file->expected_header();
  Bytes found = read_all(folder / "a.nc");
  ASSERT_GE(found.size(), front.size());
  found.resize(front.size());
  EXPECT_EQ(found, front);
  const Regions where = file->header().where(file->header().variables[0]);
  Bytes data(bytes_of(where));
  ASSERT_TRUE(file->read(where, data.data()).has_value());
  EXPECT_EQ(data, values);
}

TEST(Usage, BlocksThatNobodySeesAreCovered) {
  const Folder folder;
  std::mt19937 random(9);
  size_t seen = 0;
  size_t hidden = 0;
  for (int i = 0; i < 40; ++i) {
    write_random(folder / "a.nc", &random, 15, 64 + random() % 400);
    const Result<StoredFile> file = StoredFile::open(folder / "a.nc");
    ASSERT_TRUE(file.has_value());
    const std::vector<Block> &blocks = file->index().blocks();
    // Writes of later blocks lie over those of earlier ones, unless the numbers say something else.
    std::vector<size_t> order(blocks.size());
    for (size_t b = 0; b < order.size(); ++b) order[b] = b;
    std::ranges::stable_sort(order, {}, [&](size_t b) { return blocks[b].sequence; });
    std::vector<size_t> top(file->index().virtual_end(), SIZE_MAX);
    for (const size_t b : order) {
      for (const Region &region : blocks[b].regions) {
        for (RunCursor runs(region); !runs.done(); runs.next()) {
          std::fill_n(top.begin() + static_cast<ptrdiff_t>(runs.run().offset), runs.run().bytes, b);
        }
      }
    }
    uint64_t covered_bytes = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const bool visible = std::ranges::find(top, b) != top.end();
      ASSERT_EQ(covered(file->index(), b), !visible);
      visible ? ++seen : ++hidden;
      if (!visible) covered_bytes += blocks[b].size;
    }
    const Usage usage = usage_of(*file);
    EXPECT_EQ(usage.covered, covered_bytes);
    EXPECT_EQ(usage.header + usage.room + usage.index + usage.blocks + usage.replaced + usage.holes, file->size());
    EXPECT_EQ(usage.holes, 0U);
  }
  EXPECT_GT(seen, 100U);
  EXPECT_GT(hidden, 50U);
}

TEST(StoredWriter, LeavesNothingUnlessItIsFinished) {
  const Folder folder;
  std::mt19937 random(5);
  {
    auto writer = StoredWriter::create(folder / "a.nc", random_header(&random, 2), coding("zstd"));
    ASSERT_TRUE(writer.has_value());
    EXPECT_EQ(folder.files(), 1U);
    EXPECT_FALSE(fs::exists(folder / "a.nc"));
  }
  EXPECT_EQ(folder.files(), 0U);
  EXPECT_FALSE(StoredWriter::create(folder / "no/a.nc", random_header(&random, 2), coding("zstd")).has_value());
}

TEST(StoredWriter, BlocksAreWholeRows) {
  Variable variable;
  variable.shape = {10, 20, 30};
  Region whole;
  whole.run = 10 * 20 * 30 * 4;
  EXPECT_EQ(piece_at(whole, &variable, 4, 30000, 0), 24000U);
  EXPECT_EQ(piece_at(whole, &variable, 4, 5000, 0), 2U * 20 * 30 * 4);
  EXPECT_EQ(piece_at(whole, &variable, 4, 1000, 0), 7U * 30 * 4);
  EXPECT_EQ(piece_at(whole, &variable, 4, 1000, 2400 + 14 * 30 * 4), 6U * 30 * 4);
  EXPECT_EQ(piece_at(whole, &variable, 4, 90, 0), 60U);
  Region records;
  records.run = 100;
  ASSERT_TRUE(records.repeat(50, 130));
  EXPECT_EQ(piece_at(records, nullptr, 4, 1050, 0), 1000U);
  EXPECT_EQ(piece_at(records, nullptr, 4, 100000, 0), 5000U);
  EXPECT_EQ(piece_at(records, nullptr, 4, 90, 148), 52U);
  // All pieces of a region make it up, none is larger than a split or crosses a run that is.
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const Bytes bytes = random_header(&random, 5);
    const Header header = *parse_header(bytes)->header;
    const Variable &owner = header.variables[random() % header.variables.size()];
    const Region box = random_box(header, owner, &random);
    const uint64_t split = 64 + random() % 500;
    for (uint64_t from = 0; from < box.bytes();) {
      const uint64_t piece = piece_at(box, &owner, size_of(owner.type), split, from);
      ASSERT_GT(piece, 0U);
      ASSERT_LE(piece, split);
      ASSERT_EQ(piece % size_of(owner.type), 0U);
      from += piece;
      ASSERT_LE(from, box.bytes());
    }
  }
}

TEST(PlainFile, EveryByteBelongsToOneVariableOrToNone) {
  const Folder folder;
  std::mt19937 random(6);
  for (int i = 0; i < 100; ++i) {
    Bytes bytes = random_header(&random, random() % 4);
    const Result<Parsed> parsed = parse_header(bytes);
    ASSERT_TRUE(parsed && parsed->header);
    const size_t front = bytes.size();
    const size_t end = std::max<size_t>(front, parsed->header->end() + 7);
    bytes.resize(front + random() % (end - front + 1));
    for (size_t j = front; j < bytes.size(); ++j) bytes[j] = static_cast<uint8_t>(random());
    write_all(folder / "plain.nc", bytes);
    const Result<PlainFile> file = PlainFile::open(folder / "plain.nc");
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(*file->header_bytes(), Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(front)));
    Model model;
    uint64_t held = 0;
    const auto take = [&](const Regions &regions) {
      for (const Region &region : regions) {
        Bytes data(region.bytes());
        ASSERT_TRUE(file->read({&region, 1}, data.data()).has_value());
        model.put(region, data.data());
        held += data.size();
      }
    };
    for (const Variable &variable : file->header().variables) take(file->where(variable));
    take(file->between());
    EXPECT_EQ(held, bytes.size() - front);
    if (held == 0) continue;
    std::copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(front), model.bytes.begin());
    ASSERT_EQ(model.bytes, bytes);
  }
}

}  // namespace
}  // namespace cairn::arrays
