// Writes boxes and what our array codecs made of them to a file, for read_array.py: for each the name of the codec, the
// element, the shape, the reference, the values and the encoded bytes, each as a varint with its length and its bytes
// (numbers as varints).
#include <cstdio>

#include "arrays/testing/boxes.h"

namespace {

using namespace cairn;
using namespace cairn::codec;

bool write(const Box &box, FILE *file) {
  for (const char *name : {"xor", "delta"}) {
    const ArrayCodec *codec = find_array_codec(name);
    if (!codec->takes(box.element)) continue;
    Bytes encoded;
    if (!codec->encode(box.values, box.grid(), {}, &encoded)) return false;
    ByteWriter out;
    out.text(name);
    out.varint(static_cast<uint64_t>(box.element));
    out.varint(box.shape.size());
    for (const uint64_t extent : box.shape) out.varint(extent);
    out.blob(box.reference);
    out.blob(box.values);
    out.blob(encoded);
    if (fwrite(out.view().data(), 1, out.size(), file) != out.size()) return false;
  }
  return true;
}

}  // namespace

int main(int count, char **words) {
  if (count != 2) return 2;
  FILE *file = fopen(words[1], "wb");
  if (file == nullptr) return 4;
  bool good = true;
  for_all_boxes([&](const Box &box) { good = good && (box.values.size() > 2500 || write(box, file)); });
  // Some of more than a block, where residuals are coded with contexts.
  std::mt19937_64 random(3);
  for (const Element element : {Element::i16, Element::f32, Element::f64}) {
    for (const Content content : {Content::smooth, Content::missing, Content::decimal, Content::packed}) {
      const std::vector<uint64_t> shape = {70, 341, 3};
      good = good && write({element, content, shape, values_of(element, content, product(shape), random), {}}, file);
    }
  }
  return fclose(file) == 0 && good ? 0 : 1;
}
