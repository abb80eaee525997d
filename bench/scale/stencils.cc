// Stencils in one to three dimensions. The names say how the exchange is written:
//   (nothing)   a call site and a tag a direction, all at once, Waitall; MPI_PROC_NULL beyond the edge
//   (bench/stencil2d.c) -batch      the same through one call site and with one tag -onetag     neighbour by neighbour
//   through one call site, one tag, one buffer: calls coincide where neighbours do -skip       as the first, but
//   nothing is called where there is no neighbour -periodic   around the edges
#include "scale/patterns.h"

namespace cairn::scale {
namespace {

enum class Style : uint8_t { sites, batch, onetag, skip };

struct Shape {
  std::string name;
  uint32_t dimensions;
  std::vector<Grid::Offset> offsets;
};

/// All within reach of one another on the axes only, or with the diagonals.
std::vector<Grid::Offset> offsets_of(uint32_t dimensions, int64_t reach, bool diagonals) {
  std::vector<Grid::Offset> result;
  const auto range = [&](uint32_t d) { return d < dimensions ? reach : 0; };
  for (int64_t z = -range(2); z <= range(2); ++z) {
    for (int64_t y = -range(1); y <= range(1); ++y) {
      for (int64_t x = -range(0); x <= range(0); ++x) {
        const int axes = (x != 0 ? 1 : 0) + (y != 0 ? 1 : 0) + (z != 0 ? 1 : 0);
        if (axes == 0 || (axes > 1 && !diagonals)) continue;
        result.push_back({x, y, z});
      }
    }
  }
  return result;
}

class Stencil {
 public:
  Stencil(Script *script, const Setting &setting, const Shape &shape, Style style, bool periodic)
      : s_(*script), grid_(setting.grid), style_(style), periodic_(periodic) {
    for (const Grid::Offset &offset : shape.offsets) {
      neighbours_.push_back(grid_.neighbour(s_.rank(), offset, periodic));
    }
  }

  /// Everything before the time steps.
  void begin() {
    s_.init(1);
    std::vector<Atom> dims;
    for (const uint32_t side : grid_.sides()) dims.push_back(side);
    s_.dims_create(4, dims);
    comm_ = s_.cart_create(5, dims, periodic_);
    s_.comm_rank(6, comm_);
    for (uint32_t d = 0; d < grid_.dimensions(); ++d) {
      Grid::Offset up{};
      up[d] = 1;
      Grid::Offset down{};
      down[d] = -1;
      s_.cart_shift(7 + d, comm_, d, grid_.neighbour(s_.rank(), down, periodic_),
                    grid_.neighbour(s_.rank(), up, periodic_));
    }
    vector_ = s_.type_vector(10, 32, 1, 34);
  }

  void step() {
    switch (style_) {
      case Style::sites:
      case Style::batch:
      case Style::skip:
        return all_at_once();
      case Style::onetag:
        for (size_t d = 0; d < neighbours_.size(); ++d) {
          const Handle in = s_.irecv(20, {s_.heap(1), 32}, neighbours_[d], 0, comm_);
          const Handle out = s_.isend(21, {s_.heap(2), 32}, neighbours_[d], 0, comm_);
          s_.waitall(22, std::array{in, out});
        }
    }
  }

  void residual() { s_.allreduce(15, stack(168), {stack(160)}, kSum, comm_); }

  void end() {
    s_.reduce(16, stack(168), {stack(160)}, kSum, 0, comm_);
    s_.type_free(17, vector_);
    s_.comm_free(18, comm_);
    s_.finalize(19);
  }

 private:
  void all_at_once() {
    std::vector<Handle> requests;
    const size_t n = neighbours_.size();
    const bool one = style_ == Style::batch;
    for (size_t d = 0; d < n; ++d) {
      if (style_ == Style::skip && neighbours_[d] == kProcNull) continue;
      const auto at = static_cast<Script::Place>(d);
      requests.push_back(s_.irecv(one ? 20 : 30 + at, data(d, 1), neighbours_[d], one ? 0 : at + 1, comm_));
    }
    for (size_t d = 0; d < n; ++d) {
      if (style_ == Style::skip && neighbours_[d] == kProcNull) continue;
      const auto at = static_cast<Script::Place>(d);
      // The neighbour receives it from the opposite direction.
      const Atom tag = static_cast<Atom>(n) - static_cast<Atom>(d);
      requests.push_back(s_.isend(one ? 21 : 60 + at, data(d, 2), neighbours_[d], one ? 0 : tag, comm_));
    }
    s_.waitall(22, requests);
  }

  /// Rows of the array go as they are, columns as a vector.
  Data data(size_t direction, uint32_t label) {
    const Buffer at = s_.heap(label, static_cast<Atom>(direction) * 272);
    return direction % 2 == 0 ? Data{at, 32, kDouble} : Data{at, 1, vector_};
  }

  Script &s_;
  const Grid &grid_;
  Style style_;
  bool periodic_;
  std::vector<Atom> neighbours_;
  Atom comm_ = 0;
  Handle vector_;
};

}  // namespace

void add_stencils(std::vector<Pattern> *to) {
  const std::vector<Shape> shapes = {{"stencil1d5", 1, offsets_of(1, 2, false)},
                                     {"stencil2d5", 2, offsets_of(2, 1, false)},
                                     {"stencil2d9", 2, offsets_of(2, 1, true)},
                                     {"stencil3d7", 3, offsets_of(3, 1, false)},
                                     {"stencil3d27", 3, offsets_of(3, 1, true)}};
  const std::vector<std::pair<Style, std::string>> styles = {
      {Style::sites, ""}, {Style::batch, "-batch"}, {Style::onetag, "-onetag"}, {Style::skip, "-skip"}};
  for (const Shape &shape : shapes) {
    for (const auto &[style, suffix] : styles) {
      for (const bool periodic : {false, true}) {
        if (style == Style::skip && periodic) continue;
        const auto run = [shape, style = style, periodic](Script &script, const Setting &setting) {
          Stencil stencil(&script, setting, shape, style, periodic);
          stencil.begin();
          script.loop(setting.steps, [&] { stencil.step(); });
          stencil.end();
        };
        to->push_back({shape.name + suffix + (periodic ? "-periodic" : ""),
                       std::to_string(shape.offsets.size()) + " neighbours", shape.dimensions, run});
      }
    }
  }
  const Shape &cube = shapes.back();
  const auto recursion = [cube](Script &script, const Setting &setting) {
    Stencil stencil(&script, setting, cube, Style::sites, false);
    stencil.begin();
    script.loop(setting.steps, [&] { stencil.step(); });
    script.loop(setting.steps, [&] { stencil.residual(); });
    stencil.end();
  };
  to->push_back({"recursion",
                 "each time step of a 27-point stencil calls the next, then reduces (ScalaTrace section 4)", 3,
                 recursion});
}

}  // namespace cairn::scale
