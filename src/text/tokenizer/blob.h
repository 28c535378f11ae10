// The tokenizer as one position-independent byte blob: a header, and named parts that are used
// where they lie. Little-endian; nothing in it is parsed but the small pipeline JSON.
//
//   u32 magic "TBTK", u32 version, then per BlobPart { u64 offset, u64 size }, then the parts,
//   each at a multiple of 8.
//
// A view never trusts the bytes: the header is checked when it opens, every table access is
// bounded.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace tboost {

enum class BlobPart : uint32_t {
  kPipeline,      // JSON text: normalizer, pre_tokenizer, model options, decoder, special ids
  kPieceOffsets,  // u32[n + 1] into kPieceBytes
  kPieceBytes,    // the pieces, one after the other
  kPieceIndex,    // u32[power of two]: open addressing, id + 1 of a model piece, 0 = empty
  kTokenFlags,    // u8[n], TokenFlag
  kScores,        // f64[n], or empty
  kMerges,        // MergeRecord[m] in order of rank
  kMergeIndex,    // u32[power of two]: open addressing, rank + 1, 0 = empty
  kByteIds,       // i32[256]: the piece that stands for a byte, -1 = none; or empty
  kAddedRaw,      // AddedRecord[]: added tokens matched in the text as given, sorted by text
  kAddedNormal,   // AddedRecord[]: those matched in the normalised text, sorted by text
  kAddedBytes,    // the texts of both
  kCount,
};

enum TokenFlag : uint8_t {
  kTokenModel = 1,    // a piece the model may produce
  kTokenAdded = 2,    // an added token: matched before the model runs
  kTokenSpecial = 4,  // left out of decoded text on request
};

struct MergeRecord {
  uint32_t left, right, result;
};

enum AddedFlag : uint32_t {
  kAddedSpecial = 1,
  kAddedLeftStrip = 2,
  kAddedRightStrip = 4,
  kAddedSingleWord = 8,
};

struct AddedRecord {
  uint32_t id, flags, offset, size;
};

// An array of T somewhere in the blob, at any alignment.
template <class T>
class BlobArray {
 public:
  BlobArray() = default;
  explicit BlobArray(std::string_view bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / sizeof(T); }
  // `index` must be below size().
  T operator[](size_t index) const {
    T value;
    std::memcpy(&value, bytes_.data() + index * sizeof(T), sizeof(T));
    return value;
  }

 private:
  std::string_view bytes_;
};

class BlobView {
 public:
  // Checks magic, version and that each part lies inside. `bytes` must outlive the view.
  static Result<BlobView> Open(std::string_view bytes);
  std::string_view part(BlobPart part) const { return parts_[static_cast<size_t>(part)]; }
  template <class T>
  BlobArray<T> array(BlobPart which) const {
    return BlobArray<T>(part(which));
  }

 private:
  std::array<std::string_view, static_cast<size_t>(BlobPart::kCount)> parts_;
};

// Joins parts to a blob.
class BlobBuilder {
 public:
  void Set(BlobPart part, std::string bytes) {
    parts_[static_cast<size_t>(part)] = std::move(bytes);
  }
  template <class T>
  void SetArray(BlobPart part, std::span<const T> values) {
    Set(part, std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }
  std::string Build() const;

 private:
  std::array<std::string, static_cast<size_t>(BlobPart::kCount)> parts_;
};

// id <-> piece.
class PieceTable {
 public:
  PieceTable() = default;
  explicit PieceTable(const BlobView& blob);
  // Number of ids, holes included.
  size_t size() const { return count_; }
  std::string_view piece(size_t id) const;     // empty where there is none
  int32_t Find(std::string_view piece) const;  // a model piece's id, or -1
  size_t LongestPiece() const;                 // bytes; looks at every piece
  // Fills the piece parts and the flags; only pieces with kTokenModel are found by Find (the last
  // of equals).
  static Status Write(std::span<const std::string> pieces, std::span<const uint8_t> flags,
                      BlobBuilder* out);

 private:
  size_t count_ = 0;
  BlobArray<uint32_t> offsets_, index_;
  std::string_view bytes_;
};

// (left, right) -> rank and result of a merge.
class MergeTable {
 public:
  struct Hit {
    uint32_t rank, id;
  };
  MergeTable() = default;
  explicit MergeTable(const BlobView& blob);
  size_t size() const { return merges_.size(); }
  bool Find(uint32_t left, uint32_t right, Hit* hit) const;
  // The last of equals wins.
  static Status Write(std::span<const MergeRecord> merges, BlobBuilder* out);

 private:
  BlobArray<MergeRecord> merges_;
  BlobArray<uint32_t> index_;
};

}  // namespace tboost
