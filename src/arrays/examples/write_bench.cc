// How long writing, or with --read reading, an array takes: the micro-benchmark of Bicer, Yin and Agrawal (2014),
// Figures 7 to 9. In each iteration every rank writes --bytes of a float variable, in pieces of --piece bytes, one call
// a piece; what it writes is a smooth field in Kelvin plus normal noise, made before the clock starts. Prints one line
// of JSON.
//   write_bench FILE [--bytes 16M] [--piece 4M] [--iterations 4] [--call collective|independent|nonblocking]
//               [--noise 0.5] [--records] [--hint KEY=VALUE] [--read]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "example.h"
#include "field.h"

namespace {

constexpr const char *kUsage =
    "write_bench FILE [--bytes N] [--piece N] [--iterations N] [--call collective|independent|nonblocking] [--noise K] "
    "[--records] [--hint KEY=VALUE] [--read]";

struct Piece {
  std::array<MPI_Offset, 2> start;
  std::array<MPI_Offset, 2> count;
  size_t offset;  // in the rank's values
};

/// One after another, as a program would write them.
std::vector<Piece> pieces_of(int rank, MPI_Offset iterations, MPI_Offset values, MPI_Offset piece) {
  std::vector<Piece> pieces;
  for (MPI_Offset iteration = 0; iteration < iterations; ++iteration) {
    for (MPI_Offset at = 0; at < values; at += piece) {
      pieces.push_back({{iteration, rank * values + at},
                        {1, std::min(piece, values - at)},
                        static_cast<size_t>(iteration * kDrift + at)});
    }
  }
  return pieces;
}

enum class Call { collective, independent, nonblocking };

Call call_named(const std::string &name) {
  if (name == "collective") return Call::collective;
  if (name == "independent") return Call::independent;
  if (name == "nonblocking") return Call::nonblocking;
  fail("--call: collective, independent or nonblocking, not " + name);
}

void write(int file, int variable, Call call, const std::vector<Piece> &pieces, const std::vector<float> &values) {
  if (call == Call::independent) nc(ncmpi_begin_indep_data(file), "begin of independent data");
  for (const Piece &p : pieces) {
    const float *from = values.data() + p.offset;
    if (call == Call::collective) {
      nc(ncmpi_put_vara_float_all(file, variable, p.start.data(), p.count.data(), from), "write");
    } else if (call == Call::independent) {
      nc(ncmpi_put_vara_float(file, variable, p.start.data(), p.count.data(), from), "write");
    } else {
      nc(ncmpi_iput_vara_float(file, variable, p.start.data(), p.count.data(), from, nullptr), "posted write");
      const bool last = &p == &pieces.back() || (&p + 1)->start[0] != p.start[0];
      if (last) nc(ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr), "wait");
    }
  }
  if (call == Call::independent) nc(ncmpi_end_indep_data(file), "end of independent data");
}

void read(int file, int variable, Call call, const std::vector<Piece> &pieces, const std::vector<float> &values) {
  std::vector<float> got(values.size());
  const auto compare = [&](const Piece &p) {
    const auto bytes = static_cast<size_t>(p.count[1]) * sizeof(float);
    if (std::memcmp(got.data() + p.offset, values.data() + p.offset, bytes) != 0) fail("read: not what was written");
  };
  if (call == Call::independent) nc(ncmpi_begin_indep_data(file), "begin of independent data");
  size_t posted = 0;  // the first piece that was not compared
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &p = pieces[i];
    float *to = got.data() + p.offset;
    if (call == Call::collective) {
      nc(ncmpi_get_vara_float_all(file, variable, p.start.data(), p.count.data(), to), "read");
    } else if (call == Call::independent) {
      nc(ncmpi_get_vara_float(file, variable, p.start.data(), p.count.data(), to), "read");
    } else {
      nc(ncmpi_iget_vara_float(file, variable, p.start.data(), p.count.data(), to, nullptr), "posted read");
      if (i + 1 < pieces.size() && pieces[i + 1].start[0] == p.start[0]) continue;
      nc(ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr), "wait");
    }
    for (; posted <= i; ++posted) compare(pieces[posted]);
  }
  if (call == Call::independent) nc(ncmpi_end_indep_data(file), "end of independent data");
}

/// What a close wrote is on the disk, too.
void flush(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) fail(path + ": cannot be flushed");
  ::close(file);
}

MPI_Info info_from(const std::string &hint) {
  if (hint.empty()) return MPI_INFO_NULL;
  const size_t equals = hint.find('=');
  if (equals == std::string::npos) fail("--hint: KEY=VALUE");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
  return info;
}

}  // namespace

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const MPI_Offset values = arguments.number("--bytes", 16 << 20) / 4;
  const MPI_Offset piece = arguments.number("--piece", 4 << 20) / 4;
  const MPI_Offset iterations = arguments.number("--iterations", 4);
  const std::string call_name = arguments.text("--call", "collective");
  const Call call = call_named(call_name);
  const double noise = arguments.real("--noise", 0.5);
  const bool records = arguments.flag("--records");
  const bool reads = arguments.flag("--read");
  MPI_Info info = info_from(arguments.text("--hint", ""));
  const std::string path = arguments.finish(1, 1, kUsage)[0];
  if (values < 1 || piece < 1) fail("--bytes, --piece: at least 4");

  const std::vector<float> data =
      field(static_cast<size_t>(values + iterations * kDrift), static_cast<size_t>(world.rank * values), noise);
  const std::vector<Piece> pieces = pieces_of(world.rank, iterations, values, piece);
  Clock open;
  Clock move;
  Clock sync;
  Clock close;
  int file = -1;
  int variable = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (reads) {
    open.time([&] {
      nc(ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_NOWRITE, info, &file), path.c_str());
      nc(ncmpi_inq_varid(file, "temperature", &variable), "variable");
    });
    move.time([&] { read(file, variable, call, pieces, data); });
  } else {
    open.time([&] {
      nc(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file), path.c_str());
      std::array<int, 2> dims{};
      nc(ncmpi_def_dim(file, "iteration", records ? NC_UNLIMITED : iterations, dims.data()), "dimension");
      nc(ncmpi_def_dim(file, "cell", world.ranks * values, &dims[1]), "dimension");
      nc(ncmpi_def_var(file, "temperature", NC_FLOAT, 2, dims.data(), &variable), "variable");
      nc(ncmpi_enddef(file), "end of definitions");
    });
    move.time([&] { write(file, variable, call, pieces, data); });
    sync.time([&] { nc(ncmpi_sync(file), "sync"); });
  }
  close.time([&] {
    nc(ncmpi_close(file), "close");
    if (!reads && world.rank == 0) flush(path);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);

  const double opened = open.max();
  const double moved = move.max();
  const double synced = sync.max();
  const double closed = close.max();
  if (world.rank == 0) {
    std::printf(
        "{\"operation\": \"%s\", \"call\": \"%s\", \"ranks\": %d, \"bytes\": %lld, \"seconds\": %.6f, "
        "\"open\": %.6f, \"%s\": %.6f, \"sync\": %.6f, \"close\": %.6f}\n",
        reads ? "read" : "write", call_name.c_str(), world.ranks, values * 4 * world.ranks * iterations, seconds,
        opened, reads ? "read" : "write", moved, synced, closed);
  }
  return 0;
}
