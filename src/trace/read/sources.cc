#include "trace/read/sources.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "base/as_size.h"
#include "trace/values/bounds.h"

namespace cairn::trace {

std::optional<Source> Sources::find(const Site &site) const {
  const auto found = sources_.find({site.module, site.offset});
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

bool Sources::add_tail_call(const Site &site, Source source) {
  const auto found = sources_.find({site.module, site.offset});
  if (found == sources_.end()) return false;
  found->second.tail_call = std::make_shared<const Source>(std::move(source));
  return true;
}

namespace {

/// What is said of a function that is named like its file, as Fortran compilers do, in place of its name.
constexpr char kStemAndScore = 1;
constexpr char kStem = 2;

/// A path as folder, stem and ending.
struct Path {
  std::string folder;
  std::string stem;
  std::string ending;

  explicit Path(const std::string &path) {
    const size_t slash = path.find_last_of('/');
    const size_t name = slash == std::string::npos ? 0 : slash + 1;
    const size_t dot = path.find_last_of('.');
    const size_t end = dot == std::string::npos || dot < name ? path.size() : dot;
    folder = path.substr(0, name);
    stem = path.substr(name, end - name);
    ending = path.substr(end);
  }
};

/// Names hold no zeros, so that one can end them; what does hold one is cut.
void put_name(const std::string &name, ByteWriter *out) {
  for (const char c : name) {
    if (c == 0) break;
    out->byte(static_cast<uint8_t>(c));
  }
  out->byte(0);
}

std::string get_name(ByteReader *in) {
  std::string name;
  for (uint8_t c = in->byte(); c != 0 && !in->failed(); c = in->byte()) name += static_cast<char>(c);
  return name;
}

struct Place {
  std::string function;
  std::string file;
};

/// Nothing if they are malformed.
std::optional<std::vector<Place>> read_places(ByteReader *in) {
  const size_t folder_count = in->count(2);
  if (!in->take(folder_count, 2 * sizeof(std::string))) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> folders(folder_count);
  for (auto &[folder, ending] : folders) {
    folder = get_name(in);
    ending = get_name(in);
  }
  const size_t place_count = in->count(2);
  if (!in->take(place_count, sizeof(Place))) return std::nullopt;
  std::vector<Place> places(place_count);
  std::string file;
  std::string stem;
  uint64_t bytes = 0;
  for (Place &place : places) {
    const uint64_t folder = in->varint();
    if (folder > folders.size()) return std::nullopt;
    if (folder != 0) {
      stem = get_name(in);
      file = folders[as_size(folder - 1)].first + stem + folders[as_size(folder - 1)].second;
    }
    place.file = file;
    place.function = get_name(in);
    if (place.function == std::string{kStemAndScore}) place.function = stem + "_";
    if (place.function == std::string{kStem}) place.function = stem;
    // One long folder of many files would multiply.
    bytes += place.file.size() + place.function.size();
    in->take(2 * (place.file.size() + place.function.size()));
    if (in->failed() || bytes > most_after(in->position())) return std::nullopt;
  }
  return places;
}

}  // namespace

/// Of each site, but nullptr if there is none, or a site before had the same module and offset.
std::vector<const Source *> Sources::in_order(const std::vector<Site> &sites) const {
  std::vector<const Source *> result;
  result.reserve(sites.size());
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (const Site &site : sites) {
    const auto found = sources_.find({site.module, site.offset});
    const bool is_first = found != sources_.end() && seen.emplace(site.module, site.offset).second;
    result.push_back(is_first ? &found->second : nullptr);
  }
  return result;
}

Bytes Sources::write(const std::vector<Site> &sites) const {
  std::map<std::pair<std::string, std::string>, uint64_t> folders;
  std::map<std::pair<std::string, std::string>, uint64_t> places;  // (function, file)
  ByteWriter folder_names;
  ByteWriter place_names;
  ByteWriter entries;
  std::string last_file;
  const auto add_place = [&](const Source &source) {
    const Path path(source.file);
    if (source.file == last_file && !places.empty()) {
      place_names.varint(0);
    } else {
      const auto [folder, added] = folders.try_emplace({path.folder, path.ending}, folders.size());
      if (added) {
        put_name(path.folder, &folder_names);
        put_name(path.ending, &folder_names);
      }
      place_names.varint(folder->second + 1);
      put_name(path.stem, &place_names);
    }
    last_file = source.file;
    const bool scored = source.function == path.stem + "_";
    const bool same = source.function == path.stem;
    put_name(scored ? std::string{kStemAndScore} : same ? std::string{kStem} : source.function, &place_names);
  };
  uint32_t last = 0;
  const auto add_entry = [&](const Source *source) {
    if (source == nullptr) return entries.varint(0);
    const auto [entry, added] = places.try_emplace({source->function, source->file}, places.size());
    if (added) add_place(*source);
    entries.varint(entry->second + 1);
    entries.signed_varint(int64_t{source->line} - int64_t{last});
    last = source->line;
  };
  const std::vector<const Source *> of_sites = in_order(sites);
  for (const Source *source : of_sites) add_entry(source);
  const auto jumped = [](const Source *source) { return source != nullptr && source->tail_call != nullptr; };
  if (std::any_of(of_sites.begin(), of_sites.end(), jumped)) {
    for (const Source *source : of_sites) add_entry(jumped(source) ? source->tail_call.get() : nullptr);
  }
  ByteWriter out;
  out.varint(folders.size());
  out.raw(folder_names.view());
  out.varint(places.size());
  out.raw(place_names.view());
  out.raw(entries.view());
  return out.take();
}

Result<Sources> Sources::parse(const SectionView &section, const std::vector<Site> &sites, Allowance *allowance) {
  ByteReader in(section.bytes, allowance);
  const std::optional<std::vector<Place>> places = read_places(&in);
  if (!places) return tl::unexpected(section_error(section, in.position(), "has malformed or too long names"));
  Sources sources;
  uint64_t bytes = 0;
  int64_t line = 0;
  const char *const kMissing = "refers to something that does not exist";
  const char *wrong = nullptr;
  const auto read_entries = [&](bool tail_calls) {
    for (size_t i = 0; i < sites.size() && !in.failed() && wrong == nullptr; ++i) {
      const uint64_t number = in.varint();
      if (number == 0) continue;
      const int64_t step = in.signed_varint();
      if (number > places->size() || __builtin_add_overflow(line, step, &line) || line < 0 || line > UINT32_MAX) {
        wrong = kMissing;
        return;
      }
      const Place &place = (*places)[as_size(number - 1)];
      // One long name at many sites would multiply.
      bytes += place.function.size() + place.file.size();
      constexpr uint64_t kNode = sizeof(Source) + 96;  // of the map
      in.take(kNode + place.function.size() + place.file.size());
      if (bytes > most_after(in.position())) wrong = "has too long names";
      Source source{place.function, place.file, static_cast<uint32_t>(line)};
      if (!tail_calls) {
        sources.add(sites[i], std::move(source));
      } else if (!sources.add_tail_call(sites[i], std::move(source))) {
        wrong = kMissing;
      }
    }
  };
  read_entries(false);
  if (!in.at_end()) read_entries(true);
  if (wrong != nullptr) return tl::unexpected(section_error(section, in.position(), wrong));
  if (in.failed() || !in.at_end()) {
    return tl::unexpected(section_error(section, in.position(), "is malformed"));
  }
  return sources;
}

}  // namespace cairn::trace
