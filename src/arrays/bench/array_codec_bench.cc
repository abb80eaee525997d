// Ratio and speed of every array codec, on one core, as Markdown: docs/array-codecs.md publishes what this prints.
//
//   array_codec_bench [--repeat N] [--codec NAME]... [--data WORD] [--portable]
//
// A speed is the best of N runs (default 5), in plain bytes by the CPU time of the thread; what the computer does
// besides makes runs slower, never faster. Decoded bytes are compared with what went in. Beside our codecs: the plain,
// scalar form of the paper's XOR (`xor, plain`), and what blosc does with one thread, if it was there when this was
// built. --portable: as on a CPU without AVX2.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>

#include "array_data.h"
#include "arrays/codec/cpu.h"
#include "plain_xor.h"

#ifdef CAIRN_HAVE_BLOSC
#include <blosc.h>
#endif

namespace cairn::bench {
namespace {

using codec::ArrayCodec;

struct Coder {
  std::string name;
  std::function<bool(const Array &, Bytes *)> encode;
  std::function<bool(const Array &, ByteView, Bytes *)> decode;
  bool lossy = false;
};

struct Result {
  double ratio = 0;
  double encode = 0;  ///< GB/s
  double decode = 0;
};

double seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Coder of_registry(const ArrayCodec &codec) {
  return {std::string(codec.name),
          [&codec](const Array &array, Bytes *out) { return codec.encode(array.values, array.grid(), {}, out); },
          [&codec](const Array &array, ByteView encoded, Bytes *back) {
            return codec.decode(encoded, array.grid(), *back);
          }};
}

/// `auto` as a writer uses it: chosen for each box, which the time includes.
Coder automatic(const char *words) {
  const codec::Goal goal = codec::parse_array_codec(words)->goal;
  return {words,
          [goal](const Array &array, Bytes *out) {
            codec::ArrayOptions options;
            const ArrayCodec *codec = choose_array_codec(array.values, array.grid(), goal, &options);
            out->push_back(codec->id);
            return codec->encode(array.values, array.grid(), options, out);
          },
          [](const Array &array, ByteView encoded, Bytes *back) {
            return codec::find_array_codec(encoded[0])->decode(encoded.subspan(1), array.grid(), *back);
          }};
}

#ifdef CAIRN_HAVE_BLOSC
Coder blosc(const char *compressor, int shuffle, int level, const char *name) {
  return {name,
          [=](const Array &array, Bytes *out) {
            out->resize(array.values.size() + BLOSC_MAX_OVERHEAD);
            const int size = blosc_compress_ctx(level, shuffle, size_of(array.element), array.values.size(),
                                                array.values.data(), out->data(), out->size(), compressor, 0, 1);
            out->resize(size > 0 ? static_cast<size_t>(size) : 0);
            return size > 0;
          },
          [](const Array &array, ByteView encoded, Bytes *back) {
            return blosc_decompress_ctx(encoded.data(), back->data(), back->size(), 1) ==
                   static_cast<int>(array.values.size());
          }};
}
#endif

std::vector<Coder> all_coders() {
  std::vector<Coder> coders;
  coders.push_back(
      {"xor, plain", [](const Array &array, Bytes *out) { return plain_xor(array.values, array.element, out); },
       [](const Array &array, ByteView encoded, Bytes *back) { return plain_xor_back(encoded, array.element, back); }});
  for (const ArrayCodec &codec : codec::array_codecs()) {
    if (!codec.lossy) coders.push_back(of_registry(codec));
  }
  coders.push_back(automatic("auto:ratio"));
  coders.push_back(automatic("auto:speed"));
  coders.push_back(automatic("auto:bandwidth=2e7"));
  coders.push_back(automatic("auto:bandwidth=1e9"));
#ifdef CAIRN_HAVE_BLOSC
  coders.push_back(blosc("lz4", BLOSC_SHUFFLE, 5, "blosc shuffle + lz4"));
  coders.push_back(blosc("zstd", BLOSC_BITSHUFFLE, 1, "blosc bitshuffle + zstd"));
#endif
  return coders;
}

bool measure(const Coder &coder, const Array &array, int repeat, Result *result) {
  double encode = 1e9;
  double decode = 1e9;
  Bytes encoded;
  Bytes back(array.values.size());
  for (int i = 0; i < repeat; ++i) {
    encoded.clear();
    double start = seconds();
    if (!coder.encode(array, &encoded)) return false;
    encode = std::min(encode, seconds() - start);
    start = seconds();
    if (!coder.decode(array, encoded, &back)) return false;
    decode = std::min(decode, seconds() - start);
  }
  if (back != array.values) {
    fprintf(stderr, "array_codec_bench: %s does not give back %s\n", coder.name.c_str(), array.name.c_str());
    exit(1);
  }
  const auto size = static_cast<double>(array.values.size());
  *result = {size / static_cast<double>(encoded.size()), size / encode * 1e-9, size / decode * 1e-9};
  return true;
}

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += std::log(value);
    ++count;
  }
  [[nodiscard]] std::string text() const {
    char word[32] = "–";
    if (count > 0) snprintf(word, sizeof(word), "%.2f", std::exp(sum / count));
    return word;
  }
};

/// Of all coders, by array; arrays that a coder does not take have a ratio of 0.
using Results = std::vector<std::vector<Result>>;

Results measure_all(const std::vector<Coder> &coders, const std::vector<Array> &arrays, int repeat) {
  Results results(coders.size(), std::vector<Result>(arrays.size()));
  for (size_t k = 0; k < arrays.size(); ++k) {
    for (size_t i = 0; i < coders.size(); ++i) measure(coders[i], arrays[k], repeat, &results[i][k]);
    fprintf(stderr, "%s\n", arrays[k].name.c_str());
  }
  return results;
}

struct Means {
  Mean ratio, encode, decode;
  explicit Means(const std::vector<Result> &results) {
    for (const Result &result : results) {
      if (result.ratio == 0) continue;
      ratio.add(result.ratio);
      encode.add(result.encode);
      decode.add(result.decode);
    }
  }
};

void print_head(const std::string &first, const std::vector<std::string> &columns) {
  printf("| %s |", first.c_str());
  for (const std::string &column : columns) printf(" %s |", column.c_str());
  printf("\n|---|");
  for (size_t i = 0; i < columns.size(); ++i) printf("---|");
  printf("\n");
}

/// A line for each codec: means over the real variables, and each array that was made.
void print_codecs(const std::vector<Coder> &coders, const std::vector<Array> &made, const Results &of_real,
                  const Results &of_made) {
  std::vector<std::string> columns = {"real: ratio", "GB/s"};
  for (const Array &array : made) columns.push_back(array.name);
  columns.emplace_back("GB/s");
  print_head("codec", columns);
  for (size_t i = 0; i < coders.size(); ++i) {
    const Means real(of_real[i]);
    const Means others(of_made[i]);
    printf("| %s | %s | %s / %s |", coders[i].name.c_str(), real.ratio.text().c_str(), real.encode.text().c_str(),
           real.decode.text().c_str());
    for (const Result &result : of_made[i]) printf(" %.2f |", result.ratio);
    printf(" %s / %s |\n", others.encode.text().c_str(), others.decode.text().c_str());
  }
  printf("\n");
}

void print_ratios(const std::vector<Coder> &coders, const std::vector<Array> &arrays, const Results &results) {
  std::vector<std::string> columns;
  for (const Coder &coder : coders) columns.push_back(coder.name);
  print_head("ratio of", columns);
  for (size_t k = 0; k < arrays.size(); ++k) {
    printf("| %s |", arrays[k].name.c_str());
    for (size_t i = 0; i < coders.size(); ++i) printf(" %.2f |", results[i][k].ratio);
    printf("\n");
  }
  printf("\n");
}

}  // namespace
}  // namespace cairn::bench

int main(int count, char **words) {
  using namespace cairn;
  using namespace cairn::bench;
  int repeat = 5;
  std::string data;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (i + 1 < count && word == "--repeat") {
      repeat = atoi(words[++i]);
    } else if (i + 1 < count && word == "--codec") {
      names.emplace_back(words[++i]);
    } else if (i + 1 < count && word == "--data") {
      data = words[++i];
    } else if (word == "--portable") {
      codec::portable_only = true;
    } else {
      fprintf(stderr, "usage: array_codec_bench [--repeat N] [--codec NAME]... [--data WORD] [--portable]\n");
      return 2;
    }
  }
  std::vector<Coder> coders = all_coders();
  if (!names.empty()) {
    std::erase_if(coders,
                  [&](const Coder &coder) { return std::find(names.begin(), names.end(), coder.name) == names.end(); });
  }
  std::vector<std::string> missing;
  std::vector<Array> real = real_arrays(&missing);
  for (const std::string &name : missing)
    printf("Not there, and left out (scripts/setup arrays): %s\n\n", name.c_str());
  std::erase_if(real, [&](const Array &array) { return array.name.find(data) == std::string::npos; });
  std::vector<Array> made;
  const auto wanted = [&](const char *name) {
    return data.empty() || std::string(name).find(data) != std::string::npos;
  };
  for (const double noise : {0.01, 0.5}) {
    if (wanted("smooth field")) made.push_back(smooth_field(noise));
  }
  for (const codec::Element element : {codec::Element::f32, codec::Element::f64}) {
    if (wanted("heat")) made.push_back(heat(element));
  }
  for (const bool with_earlier : {false, true}) {
    for (const bool interleaved : {true, false}) {
      if (!wanted("atoms")) continue;
      made.push_back(atoms(interleaved, 90));
      if (with_earlier) {
        made.back().name += ", with step 90";
      } else {
        made.back().reference.clear();
      }
    }
  }
  const Results of_real = measure_all(coders, real, repeat);
  const Results of_made = measure_all(coders, made, repeat);
  printf("Ratios, and GB/s of encoding / decoding on one core (geometric means).\n\n");
  print_codecs(coders, made, of_real, of_made);
  if (!real.empty()) print_ratios(coders, real, of_real);
  std::vector<Array> repeating = repeating_arrays();
  std::erase_if(repeating, [&](const Array &array) { return array.name.find(data) == std::string::npos; });
  if (!repeating.empty()) print_ratios(coders, repeating, measure_all(coders, repeating, repeat));
}
