#include "base/spool_header.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

SpoolHeader sample() {
  SpoolHeader header;
  header.kind = SpoolHeader::Kind::epilogue;
  header.job = 1'700'000'000'000'000'001;
  header.start_unix_ns = 1'700'000'000'123'456'789;
  header.rank = 3;
  header.size = 16;
  header.host = "node7";
  header.command = "./app 'two words'";
  header.mpi = "MPICH 4.0.2";
  header.recorder = "cairn 0.1.0 libmpich.so.12";
  header.timing = "stats";
  header.status = "aborted";
  header.launcher_job = "1518010370";
  header.spawned_by = "1518010369.3";
  return header;
}

TEST(SpoolHeader, ReadsBackWhatWasWrittenAndStopsAtThePart) {
  const SpoolHeader header = sample();
  Bytes bytes = write_spool_header(header);
  bytes.push_back(42);
  ByteReader in(bytes);
  const auto read = read_spool_header(in);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kind, header.kind);
  EXPECT_EQ(read->job, header.job);
  EXPECT_EQ(read->start_unix_ns, header.start_unix_ns);
  EXPECT_EQ(read->rank, 3U);
  EXPECT_EQ(read->size, 16U);
  EXPECT_EQ(read->host, header.host);
  EXPECT_EQ(read->command, header.command);
  EXPECT_EQ(read->mpi, header.mpi);
  EXPECT_EQ(read->recorder, header.recorder);
  EXPECT_EQ(read->timing, header.timing);
  EXPECT_EQ(read->status, header.status);
  EXPECT_EQ(read->launcher_job, header.launcher_job);
  EXPECT_EQ(read->spawned_by, header.spawned_by);
  EXPECT_EQ(in.byte(), 42);
}

TEST(SpoolHeader, EveryTruncationIsAnError) {
  const Bytes bytes = write_spool_header(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(ByteView(bytes).first(size));
    const auto read = read_spool_header(in);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().kind, ErrorKind::unreadable);
  }
}

TEST(SpoolHeader, RejectsForeignNewerAndImpossibleHeaders) {
  Bytes foreign = write_spool_header(sample());
  foreign[0] = 'X';
  ByteReader a(foreign);
  EXPECT_EQ(read_spool_header(a).error().message, "not a Cairn spool file");

  Bytes newer = write_spool_header(sample());
  newer[8] = 9;
  ByteReader b(newer);
  EXPECT_EQ(read_spool_header(b).error().message, "spool file of version 9, expected 3");

  SpoolHeader impossible = sample();
  impossible.rank = 16;
  const Bytes bytes = write_spool_header(impossible);
  ByteReader c(bytes);
  EXPECT_FALSE(read_spool_header(c));
}

}  // namespace
}  // namespace cairn
