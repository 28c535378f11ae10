#include "src/text/tokenizer/blob.h"

#include <algorithm>
#include <bit>

#include "src/base/bytes.h"
#include "src/base/checked.h"

namespace tboost {
namespace {

constexpr uint32_t kMagic = 0x4B544254;  // "TBTK"
constexpr uint32_t kVersion = 1;

uint64_t Mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return x;
}

uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size() * 0x9E3779B97F4A7C15u;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = Mix(hash ^ word) * 0x9E3779B97F4A7C15u;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  return Mix(hash ^ tail);
}

uint64_t HashPair(uint32_t left, uint32_t right) {
  return Mix((uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u);
}

// Slots for `count` entries: a power of two, at most three quarters full.
size_t IndexSize(size_t count) { return std::bit_ceil(count + count / 3 + 1); }

// The slot that holds an entry for which `equal` is true, or the first empty one; the size of the
// index where there is neither. Slots hold entry + 1.
template <class Slots, class Equal>
size_t Probe(const Slots& slots, uint64_t hash, Equal equal) {
  const size_t size = slots.size();
  for (size_t step = 0; step < size; ++step) {
    const size_t at = (hash + step) & (size - 1);
    if (slots[at] == 0 || equal(slots[at] - 1)) return at;
  }
  return size;
}

// A hostile index whose size is no power of two counts as empty.
BlobArray<uint32_t> PowerOfTwo(BlobArray<uint32_t> index) {
  return std::has_single_bit(index.size()) ? index : BlobArray<uint32_t>();
}

}  // namespace

Result<BlobView> BlobView::Open(std::string_view bytes) {
  ByteReader reader(bytes, "tokenizer");
  TBOOST_ASSIGN_OR_RETURN(const uint32_t magic, reader.Read<uint32_t>("magic"));
  TBOOST_ASSIGN_OR_RETURN(const uint32_t version, reader.Read<uint32_t>("version"));
  if (magic != kMagic)
    return CorruptError("tokenizer: magic is {:#x}, expected {:#x}", magic, kMagic);
  if (version != kVersion) {
    return UnsupportedError("tokenizer: version is {}, this program reads {}", version, kVersion);
  }
  BlobView view;
  for (size_t i = 0; i < view.parts_.size(); ++i) {
    TBOOST_ASSIGN_OR_RETURN(const uint64_t offset, reader.Read<uint64_t>("part offset"));
    TBOOST_ASSIGN_OR_RETURN(const uint64_t size, reader.Read<uint64_t>("part size"));
    if (!InRange(offset, size, bytes.size())) {
      return CorruptError("tokenizer: part {} is at {} + {}, the section has {} bytes", i, offset,
                          size, bytes.size());
    }
    view.parts_[i] = bytes.substr(offset, size);
  }
  return view;
}

std::string BlobBuilder::Build() const {
  constexpr size_t kHeader = 8 + 16 * static_cast<size_t>(BlobPart::kCount);
  ByteWriter writer;
  writer.Write(kMagic);
  writer.Write(kVersion);
  uint64_t offset = RoundUp(kHeader, 8);
  for (const std::string& part : parts_) {
    writer.Write(offset);
    writer.Write(uint64_t{part.size()});
    offset = RoundUp(offset + part.size(), 8);
  }
  for (const std::string& part : parts_) {
    writer.Align(8);
    writer.WriteBytes(part);
  }
  return writer.Take();
}

PieceTable::PieceTable(const BlobView& blob)
    : offsets_(blob.array<uint32_t>(BlobPart::kPieceOffsets)),
      index_(PowerOfTwo(blob.array<uint32_t>(BlobPart::kPieceIndex))),
      bytes_(blob.part(BlobPart::kPieceBytes)) {
  count_ = offsets_.size() == 0 ? 0 : offsets_.size() - 1;
}

std::string_view PieceTable::piece(size_t id) const {
  if (id >= count_) return {};
  const size_t begin = offsets_[id], end = offsets_[id + 1];
  if (begin > end || end > bytes_.size()) return {};
  return bytes_.substr(begin, end - begin);
}

size_t PieceTable::LongestPiece() const {
  size_t longest = 0;
  for (size_t id = 0; id < count_; ++id) longest = std::max(longest, piece(id).size());
  return longest;
}

int32_t PieceTable::Find(std::string_view text) const {
  const size_t at = Probe(index_, HashBytes(text), [&](uint32_t id) { return piece(id) == text; });
  if (at >= index_.size() || index_[at] == 0 || index_[at] > count_) return -1;
  return static_cast<int32_t>(index_[at] - 1);
}

Status PieceTable::Write(std::span<const std::string> pieces, std::span<const uint8_t> flags,
                         BlobBuilder* out) {
  constexpr size_t kMaxPieces = size_t{1} << 30;
  constexpr size_t kMaxBytes = UINT32_MAX;
  if (pieces.size() > kMaxPieces) {
    return UnsupportedError("tokenizer: {} pieces, at most {} are supported", pieces.size(),
                            kMaxPieces);
  }
  std::vector<uint32_t> offsets(1, 0), index(IndexSize(pieces.size()), 0);
  std::string bytes;
  for (const std::string& piece : pieces) {
    bytes += piece;
    if (bytes.size() > kMaxBytes) return UnsupportedError("tokenizer: the pieces exceed 4 GB");
    offsets.push_back(static_cast<uint32_t>(bytes.size()));
  }
  for (size_t id = 0; id < pieces.size(); ++id) {
    if ((flags[id] & kTokenModel) == 0) continue;
    const size_t at = Probe(index, HashBytes(pieces[id]),
                            [&](uint32_t other) { return pieces[other] == pieces[id]; });
    index[at] = static_cast<uint32_t>(id) + 1;
  }
  out->SetArray<uint32_t>(BlobPart::kPieceOffsets, offsets);
  out->Set(BlobPart::kPieceBytes, std::move(bytes));
  out->SetArray<uint32_t>(BlobPart::kPieceIndex, index);
  out->SetArray<uint8_t>(BlobPart::kTokenFlags, flags);
  return OkStatus();
}

MergeTable::MergeTable(const BlobView& blob)
    : merges_(blob.array<MergeRecord>(BlobPart::kMerges)),
      index_(PowerOfTwo(blob.array<uint32_t>(BlobPart::kMergeIndex))) {}

bool MergeTable::Find(uint32_t left, uint32_t right, Hit* hit) const {
  const size_t at = Probe(index_, HashPair(left, right), [&](uint32_t rank) {
    if (rank >= merges_.size()) return false;
    const MergeRecord merge = merges_[rank];
    return merge.left == left && merge.right == right;
  });
  if (at >= index_.size() || index_[at] == 0) return false;
  *hit = {index_[at] - 1, merges_[index_[at] - 1].result};
  return true;
}

Status MergeTable::Write(std::span<const MergeRecord> merges, BlobBuilder* out) {
  constexpr size_t kMaxMerges = size_t{1} << 30;
  if (merges.size() > kMaxMerges) {
    return UnsupportedError("tokenizer: {} merges, at most {} are supported", merges.size(),
                            kMaxMerges);
  }
  if (merges.empty()) return OkStatus();
  std::vector<uint32_t> index(IndexSize(merges.size()), 0);
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const MergeRecord& merge = merges[rank];
    const size_t at = Probe(index, HashPair(merge.left, merge.right), [&](uint32_t other) {
      return merges[other].left == merge.left && merges[other].right == merge.right;
    });
    index[at] = static_cast<uint32_t>(rank) + 1;
  }
  out->SetArray<MergeRecord>(BlobPart::kMerges, merges);
  out->SetArray<uint32_t>(BlobPart::kMergeIndex, index);
  return OkStatus();
}

}  // namespace tboost
