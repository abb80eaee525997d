// What the examples share: arguments, shares of a range, clocks, and an end with a message when PnetCDF says no.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

/// MPI between its start and its end, and who we are.
class World {
 public:
  World(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  ~World() { MPI_Finalize(); }
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int rank = 0;
  int ranks = 1;
};

[[noreturn]] inline void fail(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// A PnetCDF call that must succeed; `what` says what it was for.
inline void nc(int status, const char *what) {
  if (status != NC_NOERR) fail(std::string(what) + ": " + ncmpi_strerror(status));
}

/// Every argument is asked for once by its name; finish() refuses those that nobody asked for.
class Arguments {
 public:
  Arguments(int argc, char **argv) : words_(argv + 1, argv + argc), known_(words_.size(), false) {}

  bool flag(std::string_view name) {
    bool found = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (!known_[i] && words_[i] == name) found = known_[i] = true;
    }
    return found;
  }

  std::string text(std::string_view name, std::string value) {
    for (size_t i = 0; i < words_.size(); ++i) {
      if (known_[i] || words_[i] != name) continue;
      if (i + 1 == words_.size()) fail(words_[i] + ": needs a value");
      known_[i] = known_[i + 1] = true;
      value = words_[i + 1];
    }
    return value;
  }

  double real(std::string_view name, double value) {
    const std::string said = text(name, "");
    if (said.empty()) return value;
    char *end = nullptr;
    value = std::strtod(said.c_str(), &end);
    if (*end != '\0') fail(std::string(name) + ": not a number: " + said);
    return value;
  }

  /// A whole number of at least `least`; K, M and G stand for powers of 1024.
  MPI_Offset number(std::string_view name, MPI_Offset value, MPI_Offset least = 1) {
    const std::string said = text(name, "");
    if (said.empty()) return value;
    char *end = nullptr;
    value = std::strtoll(said.c_str(), &end, 10);
    const std::string_view unit = end;
    if (unit == "K" || unit == "M" || unit == "G") {
      value <<= unit == "K" ? 10 : unit == "M" ? 20 : 30;
    } else if (!unit.empty() || end == said.c_str()) {
      fail(std::string(name) + ": not a whole number: " + said);
    }
    if (value < least) fail(std::string(name) + ": at least " + std::to_string(least));
    return value;
  }

  /// The words that are no options.
  std::vector<std::string> finish(size_t least, size_t most, const char *usage) {
    std::vector<std::string> rest;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (known_[i]) continue;
      if (words_[i].starts_with("-")) fail(words_[i] + ": unknown\nusage: " + usage);
      rest.push_back(words_[i]);
    }
    if (rest.size() < least || rest.size() > most) fail(std::string("usage: ") + usage);
    return rest;
  }

 private:
  std::vector<std::string> words_;
  std::vector<bool> known_;
};

/// A rank's contiguous share of a range.
struct Share {
  MPI_Offset first = 0;
  MPI_Offset count = 0;
};

inline Share share_of(MPI_Offset total, int rank, int ranks) {
  const MPI_Offset each = total / ranks;
  const MPI_Offset more = total % ranks;
  return {rank * each + (rank < more ? rank : more), each + (rank < more ? 1 : 0)};
}

/// Sums the seconds of what it is given to do; max() is the slowest rank's sum, on every rank.
class Clock {
 public:
  template <class Work>
  void time(Work &&work) {
    const double begin = MPI_Wtime();
    work();
    seconds_ += MPI_Wtime() - begin;
  }
  double max() const {
    double slowest = 0;
    MPI_Allreduce(&seconds_, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

 private:
  double seconds_ = 0;
};
