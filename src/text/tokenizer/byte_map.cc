#include "src/text/tokenizer/byte_map.h"

#include <array>

#include "src/base/utf8.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost {
namespace {

constexpr bool StandsForItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteMap {
  std::array<char16_t, 256> forward{};
  std::array<int16_t, 0x180> backward{};
};

constexpr ByteMap MakeByteMap() {
  ByteMap map;
  for (int16_t& byte : map.backward) byte = -1;
  char16_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    map.forward[byte] = StandsForItself(byte) ? static_cast<char16_t>(byte) : next++;
    map.backward[map.forward[byte]] = static_cast<int16_t>(byte);
  }
  return map;
}

constexpr ByteMap kByteMap = MakeByteMap();

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string MapBytes(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char byte : bytes) AppendUtf8(kByteMap.forward[static_cast<uint8_t>(byte)], out);
  return out;
}

std::string UnmapBytes(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = NextCodePoint(text, &pos);
    if (c >= kByteMap.backward.size() || kByteMap.backward[c] < 0) return std::string(text);
    out += static_cast<char>(kByteMap.backward[c]);
  }
  return out;
}

std::optional<uint8_t> ByteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  const int high = HexDigit(piece[3]), low = HexDigit(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

}  // namespace tboost
