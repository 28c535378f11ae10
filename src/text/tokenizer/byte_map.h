// How vocabularies write bytes. Byte-level ones use printable stand-ins (GPT-2's mapping):
// printable Latin-1 bytes stand for themselves, U+0100 and up for the others in order. Those with
// byte fallback have a piece like "<0x41>" per byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tboost {

// The stand-ins of all bytes, one after the other, as UTF-8.
std::string MapBytes(std::string_view bytes);
// The bytes back; where a character is no stand-in, `text` itself.
std::string UnmapBytes(std::string_view text);

// The byte that a piece like "<0x41>" stands for.
std::optional<uint8_t> ByteOfPiece(std::string_view piece);

}  // namespace tboost
