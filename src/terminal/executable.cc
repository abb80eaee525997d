#include "terminal/executable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>

#include "terminal/launcher.h"
#include "terminal/mpi_libraries.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

/// An ELF file opened for reading.
class ElfFile {
 public:
  explicit ElfFile(const std::string &path) {
    elf_version(EV_CURRENT);
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ >= 0) elf_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
    if (file_ >= 0) close(file_);
  }
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;

  [[nodiscard]] bool is_object() const {
    GElf_Ehdr header;
    return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF && gelf_getehdr(elf_, &header) != nullptr &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN);
  }
  /// And no shared library, which may be executable as a file too.
  [[nodiscard]] bool is_program() const { return is_object() && (interpreter() || dynamic(DT_SONAME).empty()); }
  /// The loader that the program asks for; nothing if it is linked statically.
  [[nodiscard]] std::optional<std::string> interpreter() const {
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return std::nullopt;
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr || header.p_type != PT_INTERP) continue;
      size_t size = 0;
      const char *file = elf_rawfile(elf_, &size);
      if (file == nullptr || header.p_offset >= size) return std::string();
      return std::string(file + header.p_offset, strnlen(file + header.p_offset, size - header.p_offset));
    }
    return std::nullopt;
  }
  /// The strings of the dynamic section with that tag.
  [[nodiscard]] std::vector<std::string> dynamic(int64_t wanted) const {
    std::vector<std::string> found;
    each_section(SHT_DYNAMIC, [&](const GElf_Shdr &header, Elf_Data *data) {
      for (size_t i = 0; header.sh_entsize != 0 && i < header.sh_size / header.sh_entsize; ++i) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag != wanted) continue;
        const char *text = elf_strptr(elf_, header.sh_link, entry.d_un.d_val);
        if (text != nullptr) found.emplace_back(text);
      }
    });
    return found;
  }
  [[nodiscard]] bool defines(const char *name) const {
    bool found = false;
    for (const uint32_t table : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
      each_section(table, [&](const GElf_Shdr &header, Elf_Data *data) {
        for (size_t i = 0; !found && header.sh_entsize != 0 && i < header.sh_size / header.sh_entsize; ++i) {
          GElf_Sym symbol;
          if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
          const char *text = elf_strptr(elf_, header.sh_link, symbol.st_name);
          found = text != nullptr && std::strcmp(text, name) == 0;
        }
      });
    }
    return found;
  }

 private:
  template <typename Visit>
  void each_section(uint32_t type, Visit visit) const {
    Elf_Scn *section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type) continue;
      if (Elf_Data *data = elf_getdata(section, nullptr)) visit(header, data);
    }
  }
  int file_ = -1;
  Elf *elf_ = nullptr;
};

std::optional<std::string> locate(const std::string &soname, const std::vector<std::string> &folders) {
  std::error_code error;
  if (soname.find('/') != std::string::npos) return fs::exists(soname, error) ? std::optional(soname) : std::nullopt;
  for (const auto *list : {&folders, &loader_folders()}) {
    for (const std::string &folder : *list) {
      const fs::path path = fs::path(folder) / soname;
      if (fs::exists(path, error)) return path.string();
    }
  }
  return std::nullopt;
}

std::vector<std::string> needed_libraries(const std::string &path) {
  constexpr size_t kMost = 512;
  std::vector<std::string> names;
  std::set<std::string> seen;
  std::deque<std::string> open = {path};
  while (!open.empty() && names.size() < kMost) {
    const std::string file = open.front();
    open.pop_front();
    const ElfFile elf(file);
    if (!elf.is_object()) continue;
    std::vector<std::string> folders;
    if (const char *set = getenv("LD_LIBRARY_PATH")) folders = folders_in(set);
    for (const int64_t tag : {int64_t{DT_RPATH}, int64_t{DT_RUNPATH}}) {
      for (const std::string &list : elf.dynamic(tag)) {
        for (std::string folder : folders_in(list)) {
          const size_t origin = folder.find("$ORIGIN");
          if (origin != std::string::npos) folder.replace(origin, 7, fs::path(file).parent_path().string());
          folders.push_back(folder);
        }
      }
    }
    for (const std::string &soname : elf.dynamic(DT_NEEDED)) {
      if (!seen.insert(soname).second) continue;
      names.push_back(soname);
      if (const auto found = locate(soname, folders)) open.push_back(*found);
    }
  }
  return names;
}

bool is_mpi(const std::string &soname) {
  for (const char *prefix : {"libmpi.so", "libmpich.so", "libmpi_", "libmpichcxx"}) {
    if (soname.starts_with(prefix)) return true;
  }
  return false;
}

/// How to record where only the program itself can be told to.
std::string with_exec(const std::vector<std::string> &command, const std::vector<Executable> &programs) {
  std::string line = "LAUNCHER cairn exec PROGRAM";
  for (const Executable &program : programs) {
    const bool uses_mpi = std::any_of(program.libraries.begin(), program.libraries.end(), is_mpi);
    const auto word = std::find_if(command.begin() + 1, command.end(), [&](const std::string &each) {
      return each == program.path || in_path(each) == program.path;
    });
    if (!uses_mpi || is_launcher(program.path) || word == command.end()) continue;
    std::vector<std::string> words(command.begin(), command.end());
    words.insert(words.begin() + (word - command.begin()), {"cairn", "exec"});
    line = shell_quoted(words);
  }
  return fmt::format("write {}, or set there what cairn env prints", line);
}

/// The library of C's functions, which all others call.
bool is_c_mpi(const std::string &soname) {
  return soname.starts_with("libmpi.so") || soname.starts_with("libmpich.so");
}

/// The kernel gives it rights that this user does not have.
bool is_privileged(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) return true;
  return getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

std::vector<Executable> executables_of(const std::vector<std::string> &command) {
  std::vector<Executable> found;
  std::set<std::string> seen;
  const std::vector<bool> places = program_places(command);
  for (size_t i = 0; i < command.size(); ++i) {
    std::string path = i == 0 ? in_path(command[i]) : command[i];
    std::error_code error;
    if (!fs::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) {
      // A launcher finds its program in PATH, too.
      if (i == 0 || !places[i] || path.empty() || path.find('/') != std::string::npos) continue;
      path = in_path(path);
      if (!fs::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) continue;
    }
    const ElfFile elf(path);
    if (!elf.is_program() || !seen.insert(path).second) continue;
    Executable executable;
    executable.path = path;
    executable.is_certain = places[i];
    const auto loader = elf.interpreter();
    executable.is_dynamic = loader.has_value();
    executable.is_musl = loader && loader->find("/ld-musl-") != std::string::npos;
    executable.defines_mpi = elf.defines("MPI_Init");
    executable.is_privileged = is_privileged(path);
    executable.defines_fortran = elf.defines("mpi_init_");
    executable.libraries = needed_libraries(path);
    found.push_back(std::move(executable));
  }
  return found;
}

std::string in_path(const std::string &word) {
  if (word.find('/') != std::string::npos) return word;
  const char *path = getenv("PATH");
  for (const std::string &folder : folders_in(path != nullptr ? path : "/usr/bin:/bin")) {
    std::string candidate = folder + "/" + word;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return word;
}

bool can_run(const std::string &word) {
  const std::string path = in_path(word);
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool has_asan(const Executable &executable) {
  return std::any_of(executable.libraries.begin(), executable.libraries.end(),
                     [](const std::string &soname) { return soname.starts_with("libasan.so"); });
}

std::string mpi_of(const Executable &program) {
  // The C library comes first: what is C++ or Fortran needs it, too.
  for (const auto is_wanted : {is_c_mpi, is_mpi}) {
    const auto found = std::find_if(program.libraries.begin(), program.libraries.end(), is_wanted);
    if (found != program.libraries.end()) return *found;
  }
  return {};
}

std::string why_not_recorded(const Executable &program, const std::vector<Recorder> &recorders) {
  const auto because = [&](std::string_view why) { return program.path + std::string(why); };
  if (program.defines_mpi) {
    return because(
        " has MPI linked into it statically, where no call can be seen; link it with the shared MPI library");
  }
  if (program.is_musl) {
    return because(" uses the C library musl, into which nothing of ours can be loaded; link it with glibc");
  }
  if (program.is_privileged) {
    return because(
        " runs with another user's rights or with capabilities, so that the loader ignores what is preloaded; take "
        "these from it");
  }
  if (!program.is_dynamic) {
    return because(" is statically linked, so nothing can be loaded into it; link it dynamically");
  }
  if (const std::string mpi = mpi_of(program); is_c_mpi(mpi) && recorder_for(mpi, recorders) == nullptr) {
    return because(fmt::format(
        " uses {}, for which there is no recorder; build one with cmake -DCAIRN_MPICC=/path/to/mpicc", mpi));
  }
  if (program.defines_fortran) {
    return because(
        " has MPI's Fortran library linked into it statically, where no call can be seen; link it with the shared one");
  }
  return {};
}

std::string why_nothing(const std::vector<std::string> &command, const std::vector<Recorder> &recorders) {
  const auto all = executables_of(command);
  const auto has_mpi = [](const Executable &one) {
    return one.defines_mpi || one.defines_fortran || !mpi_of(one).empty();
  };
  for (const Executable &each : all) {
    std::string why = has_mpi(each) ? why_not_recorded(each, recorders) : "";
    if (!why.empty()) return why;
  }
  if (const std::string dropped = what_drops_preload(command); !dropped.empty()) {
    return fmt::format("{}, so that the recorder did not reach the program; {}", dropped, with_exec(command, all));
  }
  for (const Executable &each : all) {
    std::string why = each.is_certain ? why_not_recorded(each, recorders) : "";
    if (!why.empty()) return why;
  }
  const auto seen = std::find_if(all.begin(), all.end(), has_mpi);
  return fmt::format("{} {} LD_PRELOAD, {}",
                     seen == all.end() ? "no process called MPI; is it an MPI program, and did it start?"
                                       : seen->path + " is an MPI program, but no MPI call of it was seen;",
                     seen == all.end() ? "If what starts it drops or replaces" : "if what starts it drops or replaces",
                     with_exec(command, all));
}

}  // namespace cairn::cli
