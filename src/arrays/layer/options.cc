#include "arrays/layer/options.h"

#include <charconv>
#include <cstdlib>

#include "arrays/file/index.h"

namespace cairn::arrays {
namespace {

std::string hint(MPI_Info info, const char *key, const char *variable) {
  int length = 0;
  int there = 0;
  if (info != MPI_INFO_NULL && MPI_Info_get_valuelen(info, key, &length, &there) == MPI_SUCCESS && there != 0) {
    std::string value(static_cast<size_t>(length) + 1, '\0');
    MPI_Info_get(info, key, length, value.data(), &there);
    value.resize(static_cast<size_t>(length));
    if (!value.empty()) return value;
  }
  const char *set = getenv(variable);
  return set == nullptr ? "" : set;
}

/// A positive number with an optional K, M or G behind it.
template <typename T>
Result<T> number(const std::string &words, const char *what) {
  T value{};
  const char *end = words.data() + words.size();
  const auto [rest, error] = std::from_chars(words.data(), end, value);
  bool good = error == std::errc() && value >= T{};
  if (good && rest + 1 == end && std::is_integral_v<T>) {
    const std::string_view units = "KMG";
    const size_t unit = units.find(*rest);
    good = unit != std::string_view::npos;
    for (size_t i = 0; good && i <= unit; ++i) value *= T{1024};
  } else if (rest != end) {
    good = false;
  }
  if (!good)
    return fail(ErrorKind::usage, std::string(what) + " is '" + words + "', which is no number that it can be");
  return value;
}

}  // namespace

Chain FileOptions::chain_of(uint64_t ranks, uint64_t blocks) const {
  if (chain) return {*chain};
  return codecs.any_shortest() ? Chain::automatic(ranks, blocks, index) : Chain{};
}

Result<FileOptions> read_options(MPI_Info info) {
  FileOptions options;
  const std::string codecs = hint(info, "cairn_codec", "CAIRN_ARRAYS_CODEC");
  Result<CodecWords> words_of_codecs = parse_codec_words(codecs.empty() ? "auto" : codecs);
  if (!words_of_codecs) return tl::unexpected(words_of_codecs.error());
  options.codecs = std::move(*words_of_codecs);
  const std::string storage = hint(info, "cairn_layout", "CAIRN_ARRAYS_LAYOUT");
  if (storage == "sparse") {
    options.storage = Storage::sparse;
  } else if (storage == "hybrid") {
    options.storage = Storage::hybrid;
  } else if (!storage.empty() && storage != "dense") {
    return fail(ErrorKind::usage, "the layout is '" + storage + "'; it can be dense, sparse or hybrid");
  }
  if (const std::string words = hint(info, "cairn_split", "CAIRN_ARRAYS_SPLIT"); !words.empty()) {
    const Result<uint64_t> split = number<uint64_t>(words, "the size of splits");
    if (!split) return tl::unexpected(split.error());
    constexpr uint64_t kLeast = 64;
    if (*split < kLeast || *split > kMostBlock) {
      return fail(ErrorKind::usage, "the size of splits is " + words + "; it can be 64 bytes to 256 MiB");
    }
    options.split = *split / 8 * 8;
  }
  const Result<std::optional<uint32_t>> chain = parse_chain(hint(info, "cairn_chain", "CAIRN_ARRAYS_CHAIN"));
  if (!chain) return tl::unexpected(chain.error());
  options.chain = *chain;
  if (const std::string words = hint(info, "cairn_index", "CAIRN_ARRAYS_INDEX"); !words.empty()) {
    const Result<uint64_t> blocks = number<uint64_t>(words, "the number of blocks in a segment of the index");
    if (!blocks) return tl::unexpected(blocks.error());
    constexpr uint64_t kMost = uint64_t{1} << 20;
    if (*blocks == 0 || *blocks > kMost) {
      return fail(ErrorKind::usage,
                  "the number of blocks in a segment of the index is " + words + "; it can be 1 to 1048576");
    }
    options.index.segment = *blocks;
  }
  if (const std::string words = hint(info, "cairn_ratio", "CAIRN_ARRAYS_RATIO"); !words.empty()) {
    const Result<double> ratio = number<double>(words, "the expected ratio");
    if (!ratio) return tl::unexpected(ratio.error());
    options.ratio = *ratio;
  }
  if (const std::string words = hint(info, "cairn_error", "CAIRN_ARRAYS_ERROR"); !words.empty()) {
    const Result<double> error = number<double>(words, "the expected ratio's error");
    if (!error) return tl::unexpected(error.error());
    options.error = *error;
  }
  return options;
}

}  // namespace cairn::arrays
