// cairn arrays bench: what every codec makes of the values of a file, how fast, and which one `auto` takes.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>

#include "arrays/codec/array_codec.h"
#include "arrays/tool/bench_data.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::array_tool {
namespace {

constexpr uint64_t kMost = uint64_t{16} << 20;

struct BenchOptions {
  std::string file;
  std::string variable;
  bool json = false;
};

struct Measured {
  const codec::ArrayCodec *codec = nullptr;
  uint64_t coded = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;
};

/// Of this thread: what others do on the machine is not the codec's.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Error: a codec did not give back what it was given.
Result<Measured> measure(const codec::ArrayCodec &codec, const Sample &sample) {
  Measured measured{&codec, 0, 0, 0};
  Bytes back;
  for (const Piece &piece : sample.pieces) {
    const codec::Grid grid{sample.element, piece.shape, {}};
    Bytes coded;
    double begin = cpu_seconds();
    if (!codec.encode(piece.values, grid, {}, &coded)) {
      return fail(ErrorKind::internal, fmt::format("codec '{}' cannot code its values", codec.name));
    }
    measured.encode_seconds += cpu_seconds() - begin;
    measured.coded += coded.size();
    back.assign(piece.values.size(), 0);
    begin = cpu_seconds();
    const bool good = codec.decode(coded, grid, back);
    measured.decode_seconds += cpu_seconds() - begin;
    if (!good || back != piece.values) {
      return fail(ErrorKind::internal, fmt::format("codec '{}' did not give back what it was given", codec.name));
    }
  }
  return measured;
}

/// The codec that most pieces get.
std::string chosen(const Sample &sample, codec::Goal::Kind kind) {
  std::map<std::string, size_t> votes;
  codec::Goal goal;
  goal.kind = kind;
  for (const Piece &piece : sample.pieces) {
    const codec::ArrayCodec *codec = codec::choose_array_codec(piece.values, {sample.element, piece.shape, {}}, goal);
    if (codec != nullptr) ++votes[std::string(codec->name)];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == votes.end() ? "store" : most->first;
}

/// What `auto` makes of single steps: of each for itself, and against the one before, as with --chain.
struct Chained {
  uint64_t bytes = 0;
  uint64_t alone = 0;
  uint64_t against = 0;
};
Chained chained(const Sample &sample) {
  Chained result;
  for (const auto &[before, piece] : sample.steps) {
    const auto coded = [&sample](const Piece &box, ByteView earlier) {
      const codec::Grid grid{sample.element, box.shape, earlier};
      codec::ArrayOptions options;
      const codec::ArrayCodec *codec = codec::choose_array_codec(box.values, grid, {}, &options);
      Bytes bytes;
      codec->encode(box.values, grid, options, &bytes);
      return std::min(bytes.size(), box.values.size());
    };
    result.bytes += piece.values.size();
    result.alone += coded(piece, {});
    result.against += coded(piece, before.values);
  }
  return result;
}

double rate(uint64_t bytes, double seconds) { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0; }

int bench(const BenchOptions &options) {
  std::vector<Sample> samples;
  if (options.file.empty()) {
    if (!options.variable.empty()) return cli::refuse("--var needs a file", "");
    samples.push_back(made_up_field());
  } else {
    auto found = samples_of(options.file, options.variable, kMost);
    if (!found) return cli::report(found.error());
    samples = *std::move(found);
  }
  cli::Output out;
  auto variables = nlohmann::ordered_json::array();
  for (const Sample &sample : samples) {
    const uint64_t bytes = sample.bytes();
    const std::string best = chosen(sample, codec::Goal::Kind::ratio);
    const std::string fast = chosen(sample, codec::Goal::Kind::speed);
    cli::Listing list({{"codec", "name", true},
                       {nullptr, "compressed"},
                       {"ratio"},
                       {"GB/s coding", "encode_gb_per_s"},
                       {"GB/s decoding", "decode_gb_per_s"},
                       {"chosen by", nullptr, true}});
    for (const codec::ArrayCodec &codec : codec::array_codecs()) {
      if (codec.lossy || !codec.takes(sample.element)) continue;
      const auto measured = measure(codec, sample);
      if (!measured) return cli::report(measured.error());
      const double encode = rate(bytes, measured->encode_seconds);
      const double decode = rate(bytes, measured->decode_seconds);
      std::string by = codec.name == best ? "auto" : "";
      if (codec.name == fast) by += by.empty() ? "auto:speed" : ", auto:speed";
      list.add({cli::words(std::string(codec.name)),
                {"", measured->coded},
                cli::words(ratio_text(bytes, measured->coded)),
                {fmt::format("{:.3f}", encode), encode},
                {fmt::format("{:.3f}", decode), decode},
                cli::words(by)});
    }
    variables.push_back({{"name", valid_utf8(sample.variable)},
                         {"type", sample.type},
                         {"bytes", sample.all},
                         {"sampled", bytes},
                         {"auto", best},
                         {"auto_speed", fast},
                         {"codecs", list.json()}});
    if (options.json) continue;
    out.write(fmt::format("{}{}{} ({}, {} of {})\n", out.bold(), sample.variable, out.plain(), sample.type,
                          cli::bytes_text(bytes), cli::bytes_text(sample.all)));
    list.print(out);
    // Where it is hardly shorter it is not worth that readers of one step read others, too.
    constexpr double kWorth = 0.95;
    const Chained steps = chained(sample);
    if (static_cast<double>(steps.against) < kWorth * static_cast<double>(steps.alone)) {
      out.write(fmt::format("auto, against earlier steps (--chain): {} instead of {}\n",
                            ratio_text(steps.bytes, steps.against), ratio_text(steps.bytes, steps.alone)));
    }
    if (&sample != &samples.back()) out.write("\n");
  }
  if (options.json) {
    const nlohmann::ordered_json object{{"schema", "cairn.arrays.bench/1"}, {"variables", std::move(variables)}};
    out.write(object.dump(2) + "\n");
  }
  return out.finish();
}

}  // namespace

cli::Action declare_bench(cli::Options &verb) {
  auto options = std::make_shared<BenchOptions>();
  verb.text("FILE", options->file, "A compressed or plain file; a made-up field if left out");
  verb.text("--var", options->variable, "Only this variable", "NAME");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  return [options] { return bench(*options); };
}

}  // namespace cairn::array_tool
