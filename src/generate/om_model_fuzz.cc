// A compiled model from hostile bytes: loaded, and if that works, run for a step or two.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "src/formats/om/layout.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tboost/model.h"

namespace {

void Run(const tboost::Model& model) {
  const std::vector<int32_t> ids = {0, 1};
  if (!model.generates()) {
    (void)tboost::EmbedIds(model, std::vector<std::vector<int32_t>>{ids, {1}});
    return;
  }
  tboost::Generator generator(model);
  tboost::GenerateOptions options;
  options.max_tokens = 2;
  (void)generator.Generate(ids, options);
}

}  // namespace

// The checksum of the header is made right first: what a hostile writer would do, and what random
// bytes would never find.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto runtime = tboost::Runtime::Create({.threads = 1});
  std::string bytes(reinterpret_cast<const char*>(data), size);
  tboost::om::Header header;
  if (size < sizeof(header)) return 0;
  std::memcpy(&header, data, sizeof(header));
  if (header.table_offset > size) return 0;
  header.checksum = tboost::om::HeaderChecksum(
      header, std::string_view(bytes).substr(header.table_offset,
                                             header.sections * sizeof(tboost::om::Entry)));
  std::memcpy(bytes.data(), &header, sizeof(header));

  const int file = memfd_create("model.om", 0);
  if (file < 0 || write(file, bytes.data(), size) != static_cast<ssize_t>(size)) __builtin_trap();
  const auto model = tboost::Model::Load(**runtime, "/proc/self/fd/" + std::to_string(file));
  if (model.ok()) Run(**model);
  close(file);
  return 0;
}
