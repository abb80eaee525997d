#include "analyze/module_id.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "base/hash.h"

namespace cairn::analyze {

Bytes hashed_module_id(const std::string &path) {
  // The layout is what the recorder hashes (src/mpi/names/loaded_object.cc).
  struct {
    ElfW(Ehdr) header;
    Hash128 segments;
    uint64_t file_size;
  } content = {};
  std::ifstream in(path, std::ios::binary);
  ElfW(Ehdr) header = {};
  if (!in.read(reinterpret_cast<char *>(&header), sizeof header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return {};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  const size_t bytes = segments.size() * sizeof(ElfW(Phdr));
  in.seekg(static_cast<std::streamoff>(header.e_phoff));
  if (!in.read(reinterpret_cast<char *>(segments.data()), static_cast<std::streamsize>(bytes))) return {};
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type == PT_LOAD && segment.p_offset == 0 && segment.p_filesz >= sizeof header)
      content.header = header;
  }
  content.segments = hash128({reinterpret_cast<const uint8_t *>(segments.data()), bytes});
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) content.file_size = static_cast<uint64_t>(status.st_size);
  const Hash128 hash = hash128({reinterpret_cast<const uint8_t *>(&content), sizeof content});
  const auto *first = reinterpret_cast<const uint8_t *>(&hash);
  return {first, first + sizeof hash};
}

}  // namespace cairn::analyze
