// Ratio and speed of every array codec, on one core, as Markdown: docs/array-codecs.md publishes what this prints.
//
//   array_codec_bench [--repeat N] [--codec NAME]... [--data WORD]
//
// A speed is the best of N runs (default 5), in plain bytes; what the computer does besides makes runs slower, never
// faster. Decoded bytes are compared with what went in. Beside our codecs: the plain, scalar form of the paper's XOR
// (`xor, plain`), and what blosc does with one thread, if it was there when this was built.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>

#include "array_data.h"
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

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
            const ArrayCodec *codec = choose_array_codec(array.values, array.grid(), goal);
            out->push_back(codec->id);
            return codec->encode(array.values, array.grid(), {}, out);
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

void print_table(const std::vector<Coder> &coders, const std::vector<Array> &arrays, int repeat, const char *mean) {
  printf("| data |");
  for (const Coder &coder : coders) printf(" %s |", coder.name.c_str());
  printf("\n|---|");
  for (size_t i = 0; i < coders.size(); ++i) printf("---|");
  printf("\n");
  std::vector<Mean> ratios(coders.size());
  std::vector<Mean> encode(coders.size());
  std::vector<Mean> decode(coders.size());
  for (const Array &array : arrays) {
    printf("| %s |", array.name.c_str());
    for (size_t i = 0; i < coders.size(); ++i) {
      Result result;
      if (measure(coders[i], array, repeat, &result)) {
        ratios[i].add(result.ratio);
        encode[i].add(result.encode);
        decode[i].add(result.decode);
        printf(" %.2f, %.2f / %.2f |", result.ratio, result.encode, result.decode);
      } else {
        printf(" – |");
      }
      fflush(stdout);
    }
    printf("\n");
  }
  printf("| %s |", mean);
  for (size_t i = 0; i < coders.size(); ++i)
    printf(" **%s**, %s / %s |", ratios[i].text().c_str(), encode[i].text().c_str(), decode[i].text().c_str());
  printf("\n\n");
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
    } else {
      fprintf(stderr, "usage: array_codec_bench [--repeat N] [--codec NAME]... [--data WORD]\n");
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
  const auto unwanted = [&](const Array &array) { return array.name.find(data) == std::string::npos; };
  std::erase_if(real, unwanted);
  printf("Ratio, and GB/s of encoding / decoding on one core.\n\n");
  if (!real.empty()) print_table(coders, real, repeat, "geometric mean");
  std::vector<Array> made;
  for (const double noise : {0.01, 0.5}) made.push_back(smooth_field(noise));
  made.push_back(heat(codec::Element::f32));
  made.push_back(heat(codec::Element::f64));
  if (data.empty() || data.find("atoms") != std::string::npos) {
    for (const bool interleaved : {true, false}) made.push_back(atoms(interleaved, 90));
    for (Array &array : made) array.reference.clear();
    for (const bool interleaved : {true, false}) {
      made.push_back(atoms(interleaved, 90));
      made.back().name += ", with step 90";
    }
  }
  std::erase_if(made, unwanted);
  if (!made.empty()) print_table(coders, made, repeat, "geometric mean");
}
