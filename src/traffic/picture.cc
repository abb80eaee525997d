#include "traffic/picture.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <iterator>

#include "text/utf8.h"

namespace cairn::traffic {
namespace {

constexpr uint32_t kLevels = 9;
/// From white to dark blue: ColorBrewer's "Blues", which stays in order in grey and for the colour-blind.
constexpr uint32_t kColours[kLevels + 1] = {0xffffff, 0xe6f0fa, 0xd0e1f2, 0xb7d4ea, 0x94c4df,
                                            0x6aaed6, 0x4a98c9, 0x2e7ebc, 0x1764ab, 0x08306b};

std::string escaped(const std::string &text) {
  std::string out;
  for (const char letter : valid_utf8(text)) {
    if (letter == '<') {
      out += "&lt;";
    } else if (letter == '>') {
      out += "&gt;";
    } else if (letter == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(letter) >= ' ') {
      out += letter;
    }
  }
  return out;
}

/// Of a square of about that many pixels.
uint32_t pixels_a_block(uint32_t count, uint32_t side) { return std::max(1U, side / std::max(1U, count)); }

}  // namespace

std::string svg_of(const Blocks &blocks, uint32_t ranks, const std::string &title, const std::string &unit) {
  constexpr uint32_t kSide = 640;
  constexpr uint32_t kLeft = 70;
  constexpr uint32_t kTop = 60;
  constexpr uint32_t kLegend = 150;
  constexpr uint32_t kTicks = 8;
  constexpr uint32_t kSwatch = 18;
  const uint32_t cell = pixels_a_block(blocks.count, kSide);
  const uint32_t side = cell * blocks.count;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n<text x=\"{3}\" y=\"20\" font-size=\"13\">{2}</text>\n",
      kLeft + side + kLegend, kTop + std::max(side, kSwatch * (kLevels + 2)) + 20, escaped(title), kLeft);
  const auto add = [&](const std::string &line) { out += line; };
  add(fmt::format("<text x=\"{}\" y=\"36\">receiver</text>\n<text x=\"6\" y=\"{}\">sender</text>\n", kLeft, kTop - 6));
  const uint32_t step = std::max(1U, (blocks.count + kTicks - 1) / kTicks);
  for (uint32_t i = 0; i < blocks.count; i += step) {
    const uint32_t rank = i * blocks.size;
    add(fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                    kLeft + i * cell, kTop - 6, rank, kLeft - 6, kTop + i * cell + std::min(cell, 11U), rank));
  }
  // Equal neighbours in a row are one rectangle.
  for (uint32_t row = 0; row < blocks.count; ++row) {
    for (uint32_t column = 0; column < blocks.count;) {
      const auto level = [&](uint32_t at) {
        return level_of(blocks, blocks.values[size_t{row} * blocks.count + at], kLevels);
      };
      const uint32_t here = level(column);
      uint32_t end = column + 1;
      while (end < blocks.count && level(end) == here) ++end;
      if (here != 0) {
        add(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:06x}\"/>\n",
                        kLeft + column * cell, kTop + row * cell, (end - column) * cell, cell, kColours[here]));
      }
      column = end;
    }
  }
  add(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888888\"/>\n", kLeft,
                  kTop, side, side));
  const uint32_t x = kLeft + side + 16;
  add(fmt::format("<text x=\"{}\" y=\"{}\">{} a block, from</text>\n", x, kTop + 10, unit));
  uint64_t before = UINT64_MAX;
  uint32_t line = 1;
  for (uint32_t level = kLevels; level != 0 && blocks.most != 0; --level) {
    const uint64_t least = least_of_level(blocks, level, kLevels);
    if (least == before) continue;
    before = least;
    add(
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"#{:06x}\"/>\n<text x=\"{}\" "
                    "y=\"{}\">{}</text>\n",
                    x, kTop + line * kSwatch, kColours[level], x + 20, kTop + line * kSwatch + 11, least));
    ++line;
    if (blocks.least == blocks.most) break;
  }
  add(fmt::format("<text x=\"{}\" y=\"{}\">{} ranks, {} a block</text>\n</svg>\n", x, kTop + line * kSwatch + 24, ranks,
                  blocks.size));
  return out;
}

Result<Bytes> png_of(const Blocks &blocks) {
  constexpr uint32_t kSide = 1024;
  const uint32_t cell = pixels_a_block(blocks.count, kSide);
  const uint32_t side = cell * blocks.count;
  std::vector<uint8_t> pixels(size_t{side} * side * 3);
  for (uint32_t y = 0; y < side; ++y) {
    for (uint32_t x = 0; x < side; ++x) {
      const uint64_t value = blocks.values[size_t{y / cell} * blocks.count + x / cell];
      const uint32_t colour = kColours[level_of(blocks, value, kLevels)];
      uint8_t *pixel = &pixels[(size_t{y} * side + x) * 3];
      pixel[0] = static_cast<uint8_t>(colour >> 16);
      pixel[1] = static_cast<uint8_t>(colour >> 8);
      pixel[2] = static_cast<uint8_t>(colour);
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = side;
  image.height = side;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  const auto row = static_cast<png_int_32>(side * 3);
  if (png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), row, nullptr) == 0) {
    return fail(ErrorKind::internal, fmt::format("libpng cannot write the picture: {}", image.message));
  }
  Bytes bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), row, nullptr) == 0) {
    return fail(ErrorKind::internal, fmt::format("libpng cannot write the picture: {}", image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace cairn::traffic
