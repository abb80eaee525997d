// Bytes as text that lies in an HTML page of UTF-8 and comes out of it as it was, at eight sevenths of its size (base64
// takes four thirds).
//
// Seven bits are a character of ASCII, but for the six values that an HTML parser, a server or an editor would change
// or give a meaning: NUL, line feed, carriage return, substitute, '&' and '<'. Such a value is written together with
// the seven bits that follow it, as one character of two bytes, U+0080 to U+037F: one more than its place in that list,
// then those bits. So it costs nothing. (The idea of two-byte characters that carry what ASCII cannot is base-122's.)
// page/src/seven.ts reads it.
//
// Plain function. Cost: a pass over the bytes.
#pragma once

#include <string>
#include <string_view>

namespace cairn::report {

std::string seven_bits(std::string_view bytes);

}  // namespace cairn::report
