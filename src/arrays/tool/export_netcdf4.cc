// Export to netCDF-4 through libnetcdf: dimensions, attributes and types are taken over one by one, values go over in
// pieces of some megabytes.
#include "arrays/tool/export.h"

#ifdef CAIRN_HAVE_NETCDF

#include <fmt/format.h>
#include <netcdf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "arrays/file/byte_order.h"
#include "arrays/file/draft.h"
#include "base/whole.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {
namespace {

using arrays::Header;
using arrays::Variable;

class Writer {
 public:
  Writer(const arrays::StoredFile &file, const std::string &path) : file_(file), header_(file.header()), path_(path) {}
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;
  ~Writer() {
    if (open_) nc_abort(id_);
  }

  Result<void> write(const std::string &draft, int deflate) {
    if (auto done = check(nc_create(draft.c_str(), NC_NETCDF4 | NC_CLOBBER, &id_), "the file"); !done) return done;
    open_ = true;
    if (auto done = define(deflate); !done) return done;
    for (size_t i = 0; i < header_.variables.size(); ++i) {
      if (auto done = copy(header_.variables[i], variables_[i]); !done) return done;
    }
    open_ = false;
    return check(nc_close(id_), "the file");
  }

 private:
  Result<void> check(int status, const std::string &what) const {
    if (status == NC_NOERR) return {};
    return tl::unexpected(Error{ErrorKind::environment, fmt::format("libnetcdf on {}: {}", what, nc_strerror(status)),
                                path_, Error::kNoOffset, ""});
  }

  void put(int variable, const std::vector<arrays::Attribute> &attributes) {
    for (const arrays::Attribute &attribute : attributes) {
      Bytes values(attribute.values.size());
      arrays::swap_bytes(attribute.values.data(), values.data(), values.size(), arrays::size_of(attribute.type));
      const int status = nc_put_att(id_, variable, attribute.name.c_str(), static_cast<nc_type>(attribute.type),
                                    attribute.count, values.data());
      // Some names mean something to netCDF-4, which refuses other types or any value.
      if (status != NC_NOERR) {
        cli::say(fmt::format("{}: attribute '{}' is left out: {}", path_, attribute.name, nc_strerror(status)));
      }
    }
  }

  Result<void> define(int deflate) {
    std::vector<int> dimensions;
    for (const arrays::Dimension &each : header_.dimensions) {
      int id = 0;
      const size_t length = each.length == 0 ? NC_UNLIMITED : each.length;
      if (auto done = check(nc_def_dim(id_, each.name.c_str(), length, &id), "dimension '" + each.name + "'"); !done) {
        return done;
      }
      dimensions.push_back(id);
    }
    put(NC_GLOBAL, header_.attributes);
    for (const Variable &each : header_.variables) {
      std::vector<int> axes;
      for (const uint32_t dimension : each.dimensions) axes.push_back(dimensions[dimension]);
      int id = 0;
      const std::string what = "variable '" + each.name + "'";
      if (auto done = check(nc_def_var(id_, each.name.c_str(), static_cast<nc_type>(each.type),
                                       static_cast<int>(axes.size()), axes.data(), &id),
                            what);
          !done) {
        return done;
      }
      if (deflate > 0 && !axes.empty()) {
        if (auto done = check(nc_def_var_deflate(id_, id, 1, 1, deflate), what); !done) return done;
      }
      variables_.push_back(id);
      put(id, each.attributes);
    }
    return check(nc_enddef(id_), "the file");
  }

  /// Rows of one axis are the unit: those of the first axis of which a row fits into a window.
  Result<void> copy(const Variable &variable, int id) {
    const arrays::Regions where = header_.where(variable);
    if (where.empty()) return {};
    const size_t element = arrays::size_of(variable.type);
    std::vector<size_t> lengths;
    if (variable.record) lengths.push_back(header_.records);
    lengths.insert(lengths.end(), variable.shape.begin(), variable.shape.end());
    if (lengths.empty()) lengths.push_back(1);
    size_t axis = 0;
    uint64_t row = variable.record ? variable.slab : variable.slab / lengths[0];
    while (axis + 1 < lengths.size() && row > kWindow) row /= lengths[++axis];
    const uint64_t rows = bytes_of(where) / row;
    std::vector<size_t> start(lengths.size());
    std::vector<size_t> count = lengths;
    Bytes data;
    for (uint64_t at = 0; at < rows;) {
      uint64_t rest = at;
      std::fill(start.begin(), start.end(), 0);
      for (size_t i = axis + 1; i-- > 0; rest /= lengths[i]) {
        start[i] = rest % lengths[i];
        count[i] = 1;
      }
      count[axis] = std::min<uint64_t>(lengths[axis] - start[axis], std::max<uint64_t>(kWindow / row, 1));
      const uint64_t bytes = count[axis] * row;
      const arrays::Regions window = arrays::cut(where, at * row, bytes);
      at += count[axis];
      // What nobody wrote is left to netCDF-4; but the last record says how many there are.
      if (file_.index().find(window).empty() && !(variable.record && at == rows)) {
        at = std::max(at, skip(variable, window.back().end(), row));
        if (variable.record) at = std::min(at, rows - 1);
        continue;
      }
      data.resize(bytes);
      if (auto done = file_.read(window, data.data()); !done) return done;
      arrays::swap_bytes(data.data(), data.data(), bytes, element);
      const std::string what = "variable '" + variable.name + "'";
      if (auto done = check(nc_put_vara(id_, id, start.data(), count.data(), data.data()), what); !done) return done;
    }
    return {};
  }

  /// The row of the variable where, behind a byte of the file, anything was written to the file.
  [[nodiscard]] uint64_t skip(const Variable &variable, uint64_t offset, uint64_t row) const {
    const uint64_t next = next_written(file_.index(), offset);
    if (next == UINT64_MAX) return UINT64_MAX;
    const uint64_t into = next - std::min(next, variable.begin);
    return (variable.record ? into / header_.record_size * variable.slab : into) / row;
  }

  const arrays::StoredFile &file_;
  const Header &header_;
  std::string path_;
  int id_ = 0;
  bool open_ = false;
  std::vector<int> variables_;
};

/// Where it lacks room HDF5 may crash instead of telling so: that must not leave half a file.
Result<void> write_in_child(const arrays::StoredFile &file, const std::string &path, const std::string &draft,
                            int deflate) {
  const auto cannot = [&](std::string message) {
    return tl::unexpected(Error{ErrorKind::environment, std::move(message), path, Error::kNoOffset, ""});
  };
  int ends[2];
  if (pipe(ends) != 0) return cannot(strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::signal(SIGXFSZ, SIG_IGN);
    std::string said;
    {
      Writer writer(file, path);
      const Result<void> done = writer.write(draft, deflate);
      if (!done) said = done.error().message;
    }
    write_all(ends[1], {reinterpret_cast<const uint8_t *>(said.data()), said.size()});
    _exit(said.empty() ? 0 : 1);
  }
  const int why = errno;
  close(ends[1]);
  std::string said;
  char bytes[4096];
  for (ssize_t got = 0; child > 0 && (got = read(ends[0], bytes, sizeof bytes)) > 0;)
    said.append(bytes, static_cast<size_t>(got));
  close(ends[0]);
  if (child < 0) return cannot(strerror(why));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return cannot(said.empty() ? "libnetcdf failed: there may be no room for so large a file" : said);
}

}  // namespace

Result<void> export_netcdf4(const arrays::StoredFile &file, const std::string &path, int deflate) {
  auto draft = arrays::Draft::create(path);
  if (!draft) return tl::unexpected(draft.error());
  if (auto done = write_in_child(file, path, draft->name(), deflate); !done) return done;
  return draft->keep();
}

}  // namespace cairn::array_tool

#else

namespace cairn::array_tool {

Result<void> export_netcdf4(const arrays::StoredFile & /*file*/, const std::string & /*path*/, int /*deflate*/) {
  return fail(ErrorKind::environment, "this cairn was built without libnetcdf, which --netcdf4 needs",
              "install libnetcdf-dev and build it again, or leave --netcdf4 out");
}

}  // namespace cairn::array_tool

#endif
