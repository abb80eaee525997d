#include "mpi/names/loaded_object.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/hash.h"

namespace cairn::recorder {
namespace {

struct Search {
  uintptr_t address;
  bool executable;  ///< take the first object whatever it holds
  bool first;
  LoadedObject *object;
};

bool holds(const dl_phdr_info &info, uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    const uintptr_t start = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= start && address - start < segment.p_memsz) return true;
  }
  return false;
}

/// The GNU build-id among the notes of one segment; 0 if it isn't there.
uint8_t build_id_of_notes(uintptr_t start, size_t size, size_t alignment, uint8_t (&id)[32]) {
  const auto padded = [alignment](size_t value) { return (value + alignment - 1) / alignment * alignment; };
  const auto *notes = reinterpret_cast<const uint8_t *>(start);
  for (size_t at = 0; size - at >= sizeof(ElfW(Nhdr));) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const size_t name = at + sizeof note;
    const size_t content = padded(name + note.n_namesz);
    const size_t end = content + note.n_descsz;
    if (content > size || end > size || end < at) return 0;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      const size_t length = note.n_descsz < sizeof id ? note.n_descsz : sizeof id;
      std::memcpy(id, notes + content, length);
      return static_cast<uint8_t>(length);
    }
    at = padded(end);
    if (at >= size) return 0;
  }
  return 0;
}

/// For objects without a build-id: a hash of the ELF header, the program headers and the file's size.
uint8_t hashed_id(const dl_phdr_info &info, const char *path, uint8_t (&id)[32]) {
  struct {
    ElfW(Ehdr) header;
    Hash128 segments;
    uint64_t file_size;
  } content = {};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && segment.p_offset == 0 && segment.p_filesz >= sizeof content.header) {
      std::memcpy(&content.header, reinterpret_cast<const void *>(info.dlpi_addr + segment.p_vaddr),
                  sizeof content.header);
    }
  }
  content.segments = hash128({reinterpret_cast<const uint8_t *>(info.dlpi_phdr), info.dlpi_phnum * sizeof(ElfW(Phdr))});
  struct stat status = {};
  if (stat(path, &status) == 0) content.file_size = static_cast<uint64_t>(status.st_size);
  const Hash128 hash = hash128({reinterpret_cast<const uint8_t *>(&content), sizeof content});
  std::memcpy(id, &hash, sizeof hash);
  return sizeof hash;
}

void describe(const dl_phdr_info &info, bool is_executable, LoadedObject &object) {
  object.low = UINTPTR_MAX;
  object.high = 0;
  object.load_base = info.dlpi_addr;
  object.is_executable = is_executable;
  object.build_id_size = 0;
  object.path[0] = '\0';
  if (is_executable) {
    const ssize_t length = readlink("/proc/self/exe", object.path, sizeof object.path - 1);
    object.path[length < 0 ? 0 : length] = '\0';
  } else {
    std::strncpy(object.path, info.dlpi_name, sizeof object.path - 1);
    object.path[sizeof object.path - 1] = '\0';
  }
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    const uintptr_t start = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      if (start < object.low) object.low = start;
      if (start + segment.p_memsz > object.high) object.high = start + segment.p_memsz;
    } else if (segment.p_type == PT_NOTE && object.build_id_size == 0) {
      object.build_id_size = build_id_of_notes(start, segment.p_memsz, segment.p_align == 8 ? 8 : 4, object.build_id);
    }
  }
  if (object.build_id_size == 0) object.build_id_size = hashed_id(info, object.path, object.build_id);
}

bool run(Search &search) {
  return dl_iterate_phdr(
             [](dl_phdr_info *info, size_t, void *data) {
               auto *wanted = static_cast<Search *>(data);
               const bool executable = wanted->first;  // the linker lists the program first
               wanted->first = false;
               if (!wanted->executable && !holds(*info, wanted->address)) return 0;
               describe(*info, executable, *wanted->object);
               return 1;
             },
             &search) == 1;
}

bool begins_with(const char *text, const char *start) { return std::strncmp(text, start, std::strlen(start)) == 0; }

const char *base_name(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

bool LoadedObject::locate(uintptr_t address) {
  Search search = {address, false, true, this};
  return run(search);
}

bool LoadedObject::locate_executable() {
  Search search = {0, true, true, this};
  return run(search);
}

bool is_fortran_binding_name(const char *path) {
  const char *name = base_name(path);
  for (const char *start :
       {"libmpichfort.", "libmpifort.", "libmpichf90.", "libfmpich.", "libmpi_mpifh.", "libmpi_usempi"}) {
    if (begins_with(name, start)) return true;
  }
  return false;
}

bool is_python_binding_name(const char *path) {
  constexpr const char *kFolder = "/mpi4py/";
  const char *name = base_name(path);  // MPI.cpython-311-x86_64-linux-gnu.so, MPI.mpich.abi3.so
  const size_t size = std::strlen(kFolder);
  return begins_with(name, "MPI.") && static_cast<size_t>(name - path) >= size && begins_with(name - size, kFolder);
}

bool is_python_name(const char *path) {
  const char *name = base_name(path);
  if (begins_with(name, "libpython")) return true;
  if (!begins_with(name, "python")) return false;
  name += std::strlen("python");
  return name[std::strspn(name, "0123456789.d")] == '\0';  // python3.11, python3.11d
}

bool is_c_library_name(const char *path) {
  const char *name = base_name(path);
  return begins_with(name, "libc.") || begins_with(name, "libc-") || begins_with(name, "libpthread");
}

bool is_internal_name(const char *path) {
  const char *name = base_name(path);
  // The dot keeps bindings such as libmpi_mpifh.so, libmpichfort.so and libmpicxx.so out. What libcairn-arrays.so
  // writes is recorded: it is what goes to the disk.
  for (const char *start : {"libmpi.", "libpmpi.", "libmpich.", "libpmpich.", "libopen-rte.", "libopen-pal.",
                            "libromio.", "libmca_", "mca_", "libcairn.", "libcairn-recorder.", "libcairn-oracle."}) {
    if (begins_with(name, start)) return true;
  }
  return false;
}

}  // namespace cairn::recorder
