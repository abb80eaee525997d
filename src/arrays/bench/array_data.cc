#include "array_data.h"

#include <netcdf.h>

#include <cmath>
#include <cstring>
#include <random>

#include "arrays/codec/made_up_corners.h"

namespace cairn::bench {
namespace {

using codec::Element;

struct Variable {
  const char *file;
  const char *name;
};
constexpr const char *kRoot = "/usr/share/";
constexpr Variable kVariables[] = {
    {"ferret-vis/data/etopo5.cdf", "ROSE"},
    {"ferret-vis/data/ocean_atlas_subset.nc", "TEMP"},
    {"ferret-vis/data/monthly_navy_winds.cdf", "UWND"},
    {"ferret-vis/data/levitus_climatology.cdf", "TEMP"},
    {"ferret-vis/data/levitus_climatology.cdf", "SALT"},
    {"ferret-vis/data/coads_climatology.cdf", "SST"},
    {"ncarg/data/cdf/trinidad.nc", "data"},
    {"ncarg/data/cdf/fice.nc", "fice"},
    {"ncarg/data/cdf/vinth2p.nc", "T"},
    {"ncarg/data/cdf/hgt.nc", "HGT"},
    {"ncarg/data/cdf/pop.nc", "t"},
    {"ncarg/data/nug/rectilinear_grid_3D.nc", "t"},
    {"ncarg/data/nug/rectilinear_grid_3D.nc", "rhumidity"},
    {"ncarg/data/nug/tas_rectilinear_grid_2D.nc", "tas"},
    {"ncarg/data/nug/uas_rectilinear_grid_2D.nc", "uas"},
    {"ncarg/data/nug/tas_rotated_grid_EUR11.nc", "tas"},
};

bool element_of(nc_type type, Element *element) {
  switch (type) {
    case NC_BYTE:
      *element = Element::i8;
      return true;
    case NC_SHORT:
      *element = Element::i16;
      return true;
    case NC_INT:
      *element = Element::i32;
      return true;
    case NC_FLOAT:
      *element = Element::f32;
      return true;
    case NC_DOUBLE:
      *element = Element::f64;
      return true;
    default:
      return false;
  }
}

bool read(int file, const char *name, Array *array) {
  int variable = 0;
  nc_type type = NC_NAT;
  int rank = 0;
  int axes[NC_MAX_VAR_DIMS];
  if (nc_inq_varid(file, name, &variable) != NC_NOERR ||
      nc_inq_var(file, variable, nullptr, &type, &rank, axes, nullptr) != NC_NOERR ||
      !element_of(type, &array->element)) {
    return false;
  }
  size_t count = 1;
  for (int i = 0; i < rank; ++i) {
    size_t extent = 0;
    if (nc_inq_dimlen(file, axes[i], &extent) != NC_NOERR) return false;
    array->shape.push_back(extent);
    count *= extent;
  }
  array->values.resize(count * size_of(array->element));
  return nc_get_var(file, variable, array->values.data()) == NC_NOERR;
}

template <typename T, typename From>
void put(const std::vector<From> &from, Bytes *bytes) {
  bytes->resize(from.size() * sizeof(T));
  for (size_t i = 0; i < from.size(); ++i) {
    const T value = static_cast<T>(from[i]);
    memcpy(bytes->data() + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

std::vector<Array> real_arrays(std::vector<std::string> *missing) {
  std::vector<Array> arrays;
  for (const Variable &variable : kVariables) {
    const std::string path = std::string(kRoot) + variable.file;
    const std::string stem = path.substr(path.rfind('/') + 1);
    Array array;
    array.name = stem.substr(0, stem.rfind('.')) + " " + variable.name;
    int file = 0;
    bool good = nc_open(path.c_str(), NC_NOWRITE, &file) == NC_NOERR;
    if (good) {
      good = read(file, variable.name, &array);
      nc_close(file);
    }
    if (good) {
      arrays.push_back(std::move(array));
    } else {
      missing->push_back(path + " " + variable.name);
    }
  }
  return arrays;
}

Array smooth_field(double noise) {
  constexpr size_t kZ = 32;
  constexpr size_t kY = 256;
  constexpr size_t kX = 512;
  constexpr double kTurn = 6.283185307179586;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, noise);
  std::uniform_real_distribution<double> uniform(0, 1);
  struct Wave {
    double x, y, z, phase, height;
  };
  std::vector<Wave> waves;
  for (int i = 0; i < 8; ++i) {
    waves.push_back({1 + std::floor(6 * uniform(random)), 1 + std::floor(4 * uniform(random)), 2 * uniform(random),
                     kTurn * uniform(random), 1 + 4 * uniform(random)});
  }
  std::vector<double> values;
  values.reserve(kZ * kY * kX);
  for (size_t k = 0; k < kZ; ++k) {
    for (size_t j = 0; j < kY; ++j) {
      for (size_t i = 0; i < kX; ++i) {
        const double z = static_cast<double>(k) / kZ;
        const double y = static_cast<double>(j) / kY;
        const double x = static_cast<double>(i) / kX;
        const double sine = std::sin(kTurn / 2 * (y - 0.5));
        double value = 288 - 60 * z - 40 * sine * sine;
        for (const Wave &wave : waves)
          value += wave.height * std::sin(kTurn * (wave.x * x + wave.y * y + wave.z * z) + wave.phase);
        values.push_back(value + normal(random));
      }
    }
  }
  char name[64];
  snprintf(name, sizeof(name), "smooth field, noise %g", noise);
  Array array{name, Element::f32, {kZ, kY, kX}, {}, {}};
  put<float>(values, &array.values);
  return array;
}

std::vector<Array> repeating_arrays() {
  constexpr size_t kRows = 300;
  constexpr size_t kColumns = 400;
  std::vector<Array> arrays;
  const auto add = [&](const char *name, const std::vector<uint64_t> &shape, const std::vector<double> &values) {
    arrays.push_back({std::string(name) + ", f32", Element::f32, shape, {}, {}});
    put<float>(values, &arrays.back().values);
    arrays.push_back({std::string(name) + ", f64", Element::f64, shape, {}, {}});
    put<double>(values, &arrays.back().values);
  };
  std::mt19937_64 random(1);
  std::vector<double> bounds;
  double end = 0;
  for (size_t i = 0; i < 100000; ++i) {
    bounds.push_back(end);
    end += 0.5 + 1e-4 * static_cast<double>(random() % 1000) + 1e-9 * static_cast<double>(random() % 1000);
    bounds.push_back(end);
  }
  add("bounds", {bounds.size() / 2, 2}, bounds);
  const codec::MadeUpCorners corners(kRows, kColumns);
  add("corners of cells", {kRows, kColumns, 4}, corners.cells);
  add("corners of triangles", {corners.triangles.size() / 3, 3}, corners.triangles);
  arrays.push_back({"numbers of corners, i32", Element::i32, {corners.numbers.size() / 3, 3}, {}, {}});
  put<int32_t>(corners.numbers, &arrays.back().values);
  std::vector<double> times;
  double time = 1.7e9;
  for (size_t i = 0; i < 240000; ++i) {
    if (i % 20 == 0) time += 1 + 0.01 * static_cast<double>(random() % 100);
    times.push_back(time);
  }
  add("time stamps", {times.size()}, times);
  return arrays;
}

Array heat(Element element) {
  constexpr size_t kZ = 96;
  constexpr size_t kY = 128;
  constexpr size_t kX = 128;
  constexpr int kRadius = 3;
  std::vector<double> now(kZ * kY * kX, 300);
  std::mt19937_64 random(5);
  const auto below = [&random](size_t end) { return static_cast<int>(random() % end); };
  for (int spot = 0; spot < 60; ++spot) {
    const int at[3] = {below(kZ - 2 * kRadius), below(kY - 2 * kRadius), below(kX - 2 * kRadius)};
    const double hotter = 100 + below(900);
    for (int k = -kRadius; k <= kRadius; ++k) {
      for (int j = -kRadius; j <= kRadius; ++j) {
        for (int i = -kRadius; i <= kRadius; ++i) {
          const auto place = [&](int axis, int step) { return static_cast<size_t>(at[axis] + kRadius + step); };
          if (k * k + j * j + i * i <= kRadius * kRadius)
            now[(place(0, k) * kY + place(1, j)) * kX + place(2, i)] += hotter;
        }
      }
    }
  }
  std::vector<double> next = now;
  for (int step = 0; step < 200; ++step) {
    for (size_t k = 1; k + 1 < kZ; ++k) {
      for (size_t j = 1; j + 1 < kY; ++j) {
        const size_t row = (k * kY + j) * kX;
        for (size_t i = row + 1; i + 1 < row + kX; ++i) {
          next[i] = now[i] + 0.1 * (now[i - 1] + now[i + 1] + now[i - kX] + now[i + kX] + now[i - kX * kY] +
                                    now[i + kX * kY] - 6 * now[i]);
        }
      }
    }
    now.swap(next);
  }
  Array array{element == Element::f32 ? "heat f32" : "heat f64", element, {kZ, kY, kX}, {}, {}};
  if (element == Element::f32) {
    put<float>(now, &array.values);
  } else {
    put<double>(now, &array.values);
  }
  return array;
}

}  // namespace cairn::bench
