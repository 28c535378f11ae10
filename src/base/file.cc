#include "src/base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "src/base/checked.h"

namespace tboost {
namespace {

Status SystemError(std::string_view action, const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (error == ENOENT) return NotFoundError("{}: cannot {}: {}", path, action, reason);
  if (error == ENOMEM) return ResourceExhaustedError("{}: cannot {}: {}", path, action, reason);
  return IoError("{}: cannot {}: {}", path, action, reason);
}

// An open descriptor, closed at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// The temporary files alive, in static storage so that a signal handler can read them.
enum class SlotState { kFree, kFilling, kLive, kRemoved };
struct TemporarySlot {
  std::atomic<SlotState> state{SlotState::kFree};
  char path[PATH_MAX];
};
std::array<TemporarySlot, 32> temporary_slots;
static_assert(std::atomic<SlotState>::is_always_lock_free);

// The slot taken; -1 where none is free or the path is too long.
int TakeSlot(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (size_t i = 0; i < temporary_slots.size(); ++i) {
    TemporarySlot& slot = temporary_slots[i];
    SlotState expected = SlotState::kFree;
    if (!slot.state.compare_exchange_strong(expected, SlotState::kFilling)) continue;
    std::copy_n(path.c_str(), path.size() + 1, slot.path);
    slot.state.store(SlotState::kLive);
    return static_cast<int>(i);
  }
  return -1;
}

void FreeSlot(int slot) {
  if (slot >= 0) temporary_slots[slot].state.store(SlotState::kFree);
}

Status WriteAll(int fd, const std::string& path, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return SystemError("write", path, errno);
    }
    offset += n;
    bytes.remove_prefix(n);
  }
  return OkStatus();
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: a FIFO in the place of a file must not hang the open.
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return SystemError("open", path, errno);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return SystemError("read", path, errno);
  if (S_ISDIR(info.st_mode)) return SystemError("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) return IoError("{}: not a regular file", path);
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(info.st_size);
  if (file.size_ == 0) return file;
  void* data = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    file.size_ = 0;
    return SystemError("map", path, errno);
  }
  file.data_ = static_cast<const char*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));
  std::swap(path_, taken.path_);
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::Release(uint64_t offset, uint64_t size) const {
  if (size == 0 || !InRange(offset, size, size_)) return;
  static const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = offset / page * page;
  // Advice only: a refusal costs memory, never correctness.
  madvise(const_cast<char*>(data_) + begin, offset + size - begin, MADV_DONTNEED);
}

Result<std::string> ReadFile(const std::string& path, uint64_t limit) try {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return SystemError("open", path, errno);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return SystemError("read", path, errno);
  std::string text;
  // Pipes and /proc files report no size, so the size is a hint and the end is where read says it
  // is.
  uint64_t step = std::clamp<uint64_t>(static_cast<uint64_t>(info.st_size) + 1, 4096, limit + 1);
  while (text.size() <= limit) {
    const size_t used = text.size();
    text.resize(used + std::min<uint64_t>(step, limit + 1 - used));
    const ssize_t n = read(fd.get(), text.data() + used, text.size() - used);
    const int error = errno;
    text.resize(used + std::max<ssize_t>(n, 0));
    if (n < 0 && error != EINTR) return SystemError("read", path, error);
    if (n == 0) return text;
    step = std::max<uint64_t>(4096, text.size() / 2);
  }
  return ResourceExhaustedError("{}: larger than {} bytes", path, limit);
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to read it", path);
}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return IoError("{}: exists and is not a regular file", path);
    // Behind a symbolic link the file it points to is replaced, not the link.
    if (char* resolved = realpath(path.c_str(), nullptr)) {
      file.path_ = resolved;
      std::free(resolved);
    }
  }
  static std::atomic<uint64_t> counter{0};
  std::string temporary;
  int fd = -1;
  do {
    temporary = fmt::format("{}.tmp-{}-{}", file.path_, getpid(), counter.fetch_add(1));
    fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) return SystemError("create", path, errno);
  file.fd_ = fd;
  file.temporary_ = std::move(temporary);
  file.slot_ = TakeSlot(file.temporary_);
  if (file.slot_ < 0)
    return ResourceExhaustedError("{}: more than {} files written at once", path,
                                  temporary_slots.size());
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      slot_(std::exchange(other.slot_, -1)),
      size_(std::exchange(other.size_, 0)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
  FreeSlot(slot_);
}

Status AtomicFile::Write(std::string_view bytes) {
  TBOOST_RETURN_IF_ERROR(WriteAt(size_, bytes));
  size_ += bytes.size();
  return OkStatus();
}

Status AtomicFile::WriteAt(uint64_t offset, std::string_view bytes) {
  if (fd_ < 0) return InvalidArgumentError("{}: written after it was committed", path_);
  return WriteAll(fd_, path_, offset, bytes);
}

Status AtomicFile::PadTo(uint64_t alignment) {
  const uint64_t target = RoundUp(size_, alignment);
  if (target == size_) return OkStatus();
  // Whatever lies between the end and the last byte reads as zeros.
  TBOOST_RETURN_IF_ERROR(WriteAt(target - 1, std::string_view("", 1)));
  size_ = target;
  return OkStatus();
}

Status AtomicFile::Commit() {
  if (fd_ < 0) return InvalidArgumentError("{}: committed twice", path_);
  // Data reach the disk before the name does: a crash leaves the old file or the new one.
  if (fsync(fd_) != 0 && errno != EINVAL) return SystemError("write", path_, errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return SystemError("create", path_, errno);
  FreeSlot(slot_);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) return SystemError("write", path_, errno);
  return OkStatus();
}

void RemoveTemporaryFiles() {
  for (TemporarySlot& slot : temporary_slots) {
    SlotState expected = SlotState::kLive;
    if (slot.state.compare_exchange_strong(expected, SlotState::kRemoved)) unlink(slot.path);
  }
}

Result<std::string> ContainedPath(const std::string& folder, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return InvalidArgumentError("{}: the file name \"{}\" {}", folder, name.substr(0, 200), why);
  };
  if (name.empty()) return refuse("is empty");
  if (name.find('\0') != name.npos) return refuse("has a zero byte");
  if (name.front() == '/') return refuse("is an absolute path");
  for (std::string_view rest = name; !rest.empty();) {
    const size_t end = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, end) == "..") return refuse("leaves the folder");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("{}/{}", folder, name);
}

}  // namespace tboost
