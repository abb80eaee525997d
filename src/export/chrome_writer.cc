#include <fmt/format.h>

#include <iterator>

#include "export/timeline_writer.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

/// One object a line, with commas between. Written by hand: a tree of values for each event takes three times as long.
class ChromeWriter : public TimelineWriter {
 public:
  explicit ChromeWriter(OutFile *out) : out_(*out) { out_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["); }

  void process(uint32_t process, const std::string &name) override {
    open();
    add(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":)", process);
    quote(name);
    line_ += '}';
    close();
  }
  void thread(const Track &track, const std::string &name) override {
    open();
    add(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":)", track.process, track.thread);
    quote(name);
    line_ += '}';
    close();
  }
  void begin(const Track &track, uint64_t ns, const SliceBegin &slice) override {
    head("B", track, ns);
    tell(slice);
    close();
  }
  void end(const Track &track, uint64_t ns, const std::vector<Detail> &details) override {
    head("E", track, ns);
    arguments(details);
    close();
  }
  void slice(const Track &track, uint64_t ns, uint64_t length_ns, const SliceBegin &slice) override {
    head("X", track, ns);
    time("dur", length_ns);
    tell(slice);
    close();
  }
  void mark(const Track &track, uint64_t ns, const SliceBegin &what, const Arrow &arrow) override {
    head("i", track, ns);
    tell(what);
    line_ += R"(,"s":"t")";
    close();
    if (arrow.here == Arrow::Ends::none) return;
    const bool begins = arrow.here == Arrow::Ends::begins;
    head(begins ? "s" : "f", track, ns);
    add(R"(,"name":"message","cat":"message","id":{})", arrow.number);
    if (!begins) line_ += R"(,"bp":"e")";  // to the slice that is open
    close();
  }
  void counter(uint32_t process, const std::string &name, const char *unit, uint64_t ns, uint64_t value) override {
    open();
    add(R"("ph":"C","pid":{})", process);
    time("ts", ns);
    line_ += R"(,"name":)";
    quote(name);
    add(R"(,"args":{{"{}":{}}})", unit, value);
    close();
  }
  void finish() override { out_.write("\n]}\n"); }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> form, Arguments &&...arguments) {
    fmt::format_to(std::back_inserter(line_), form, std::forward<Arguments>(arguments)...);
  }
  void open() {
    line_.assign(first_ ? "\n{" : ",\n{");
    first_ = false;
  }
  void close() {
    line_ += '}';
    out_.write(line_);
  }
  void head(const char *phase, const Track &track, uint64_t ns) {
    open();
    add(R"("ph":"{}","pid":{},"tid":{})", phase, track.process, track.thread);
    time("ts", ns);
  }
  /// Microseconds, whole ones without a fraction.
  void time(const char *name, uint64_t ns) {
    add(R"(,"{}":{})", name, ns / 1000);
    if (ns % 1000 != 0) add(".{:03}", ns % 1000);
  }
  void tell(const SliceBegin &slice) {
    line_ += R"(,"name":)";
    quote(slice.name);
    add(R"(,"cat":"{}")", slice.category);
    arguments(slice.details);
  }
  void arguments(const std::vector<Detail> &details) {
    if (details.empty()) return;
    line_ += R"(,"args":{)";
    bool first = true;
    for (const Detail &each : details) {
      add(R"({}"{}":)", first ? "" : ",", each.name);
      if (each.is_text) {
        quote(each.text);
      } else {
        add("{}", each.number);
      }
      first = false;
    }
    line_ += '}';
  }
  void quote(std::string_view text) {
    line_ += '"';
    for (const char each : valid_utf8(text)) {
      if (each == '"' || each == '\\') {
        line_ += '\\';
        line_ += each;
      } else if (static_cast<unsigned char>(each) < 0x20) {
        add("\\u{:04x}", static_cast<unsigned>(each));
      } else {
        line_ += each;
      }
    }
    line_ += '"';
  }

  OutFile &out_;
  bool first_ = true;
  std::string line_;
};

}  // namespace

std::unique_ptr<TimelineWriter> chrome_writer(OutFile *out) { return std::make_unique<ChromeWriter>(out); }

}  // namespace cairn::exporting
