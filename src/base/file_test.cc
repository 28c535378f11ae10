#include "src/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tboost {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = testing::TempDir() + "/fileXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string Put(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  int FilesInFolder() const {
    return static_cast<int>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

TEST_F(FileTest, MapsAFileAndReleasesItsPages) {
  const std::string text(100000, 'x');
  Result<MappedFile> opened = MappedFile::Open(Put("a", text));
  ASSERT_TRUE(opened.ok());
  MappedFile file = *std::move(opened);
  EXPECT_EQ(file.bytes(), text);
  file.Release(5000, 60000);
  file.Release(99999, 1);
  file.Release(99999, 2);  // beyond the end: ignored
  file.Release(1, ~uint64_t{0});
  EXPECT_EQ(file.bytes(), text);
  file = *MappedFile::Open(Put("b", "other"));
  EXPECT_EQ(file.bytes(), "other");
}

TEST_F(FileTest, EmptyFilesMap) {
  const Result<MappedFile> file = MappedFile::Open(Put("empty", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->bytes().size(), 0u);
}

TEST_F(FileTest, WhatIsNoFileIsAnError) {
  EXPECT_EQ(MappedFile::Open(folder_ + "/none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(folder_).status().code(), StatusCode::kIo);
  EXPECT_EQ(MappedFile::Open("/dev/null").status().code(), StatusCode::kIo);
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Status status = MappedFile::Open(fifo).status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_THAT(status.message(), HasSubstr(fifo));
}

TEST_F(FileTest, ReadFileObeysItsLimit) {
  for (size_t size : {0, 1, 4095, 4096, 4097, 300000}) {
    const std::string text(size, 'y');
    const std::string path = Put("text", text);
    EXPECT_EQ(*ReadFile(path), text);
    EXPECT_EQ(*ReadFile(path, size), text);
    if (size > 0) {
      EXPECT_EQ(ReadFile(path, size - 1).status().code(), StatusCode::kResourceExhausted);
    }
  }
  EXPECT_THAT(*ReadFile("/proc/self/status"), HasSubstr("VmRSS"));
  EXPECT_EQ(ReadFile(folder_ + "/none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(folder_).status().code(), StatusCode::kIo);
}

TEST_F(FileTest, CommitReplacesTheFileAtOnce) {
  const std::string path = Put("out", "old");
  Result<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("head").ok());
  ASSERT_TRUE(file->PadTo(128).ok());
  EXPECT_EQ(file->size(), 128u);
  ASSERT_TRUE(file->Write("tail").ok());
  ASSERT_TRUE(file->WriteAt(1, "XX").ok());
  EXPECT_EQ(*ReadFile(path), "old");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*ReadFile(path), "hXXd" + std::string(124, '\0') + "tail");
  EXPECT_EQ(FilesInFolder(), 1);
  EXPECT_EQ(file->Commit().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file->Write("more").code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, WithoutCommitNothingChanges) {
  const std::string path = Put("out", "old");
  {
    Result<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_TRUE(file->Write("new").ok());
    EXPECT_EQ(FilesInFolder(), 2);
    const AtomicFile moved = *std::move(file);
  }
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(FileTest, TemporaryFilesAreRemovedOnRequest) {
  const std::string path = folder_ + "/out";
  {
    Result<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_TRUE(file->Write("new").ok());
    RemoveTemporaryFiles();
    EXPECT_EQ(FilesInFolder(), 0);
    EXPECT_FALSE(file->Commit().ok());
  }
  EXPECT_EQ(FilesInFolder(), 0);
  // The places of files that are gone are free again.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(AtomicFile::Create(path).ok());
}

TEST_F(FileTest, OutputThatCannotBe) {
  EXPECT_EQ(AtomicFile::Create(folder_ + "/none/out").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(AtomicFile::Create(folder_).status().code(), StatusCode::kIo);
  EXPECT_EQ(AtomicFile::Create("/dev/null").status().code(), StatusCode::kIo);
}

TEST_F(FileTest, ASymbolicLinkStaysOne) {
  const std::string target = Put("target", "old"), link = folder_ + "/link";
  fs::create_symlink(target, link);
  Result<AtomicFile> file = AtomicFile::Create(link);
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(target), "new");
}

TEST(ContainedPathTest, RefusesEscapes) {
  EXPECT_EQ(*ContainedPath("models", "a/b..c.bin"), "models/a/b..c.bin");
  for (std::string_view name :
       {std::string_view(""), std::string_view("/etc/passwd"), std::string_view(".."),
        std::string_view("../x"), std::string_view("a/../../x"), std::string_view("a/.."),
        std::string_view("a\0b", 3)}) {
    EXPECT_EQ(ContainedPath("models", name).status().code(), StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace tboost
