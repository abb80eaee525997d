// Pseudo-random numbers that depend on a place only, not on who asks nor in which order: any number of ranks writes the
// same file.
#pragma once

#include <cmath>
#include <cstdint>

/// 64 well mixed bits (splitmix64's finalizer; Steele, Lea, Flood 2014).
inline uint64_t mixed(uint64_t place) {
  place += 0x9e3779b97f4a7c15u;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9u;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebu;
  return place ^ (place >> 31);
}

/// Mean 0, deviation 1, nearly normal: the sum of four uniform numbers of 16 bits.
inline double normal(uint64_t place) {
  const uint64_t bits = mixed(place);
  const auto sum = static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return (sum / 65535.0 - 2.0) * std::sqrt(3.0);
}
