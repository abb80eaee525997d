// Field numbers are those of Perfetto's protos/perfetto/trace: they never change their meaning.
#include <cstring>
#include <map>
#include <string>

#include "export/timeline_writer.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

/// A message of Protocol Buffers.
class Message {
 public:
  void number(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void fixed(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(uint32_t field, std::string_view value) {
    varint(uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const Message &value) { text(field, value.bytes_); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] const std::string &bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

enum Packet : uint32_t {
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInterned = 12,
  kFlags = 13,
  kDescriptor = 60
};
enum Event : uint32_t {
  kDebug = 4,
  kType = 9,
  kNameId = 10,
  kTrackId = 11,
  kCategoryId = 3,
  kCounterValue = 30,
  kFlow = 47,
  kFlowEnd = 48
};
enum Type : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
enum Names : uint32_t { kCategories = 1, kEventNames = 2, kDebugNames = 3, kDebugTexts = 29 };

class PerfettoWriter : public TimelineWriter {
 public:
  explicit PerfettoWriter(OutFile *out) : out_(*out) {}

  void process(uint32_t process, const std::string &name) override {
    Message told;
    told.number(1, process);
    told.text(6, valid_utf8(name));
    Message descriptor;
    descriptor.number(1, process_track(process));
    descriptor.message(3, told);
    describe(descriptor);
  }
  /// The numbers of threads are those of no other process: the first of a process has its number.
  void thread(const Track &track, const std::string &name) override {
    const uint64_t number = track.thread == 1 ? track.process : kFirstThread + threads_++;
    Message told;
    told.number(1, track.process);
    told.number(2, number);
    told.text(5, valid_utf8(name));
    Message descriptor;
    descriptor.number(1, track_of(track));
    descriptor.number(5, process_track(track.process));
    descriptor.message(4, told);
    describe(descriptor);
  }
  void begin(const Track &track, uint64_t ns, const SliceBegin &slice) override {
    Message event;
    Message interned;
    head(kBegin, track, slice, &event, &interned);
    add(ns, event, interned);
  }
  void end(const Track &track, uint64_t ns, const std::vector<Detail> &details) override {
    Message event;
    Message interned;
    event.number(kType, kEnd);
    event.number(kTrackId, track_of(track));
    add_details(details, &event, &interned);
    add(ns, event, interned);
  }
  /// Arrows are drawn from the earliest event of a number: so they cannot begin and end with slices, of which the one
  /// that receives often begins first.
  void mark(const Track &track, uint64_t ns, const SliceBegin &what, const Arrow &arrow) override {
    Message event;
    Message interned;
    head(kInstant, track, what, &event, &interned);
    if (arrow.here == Arrow::Ends::begins) event.fixed(kFlow, arrow.number);
    if (arrow.here == Arrow::Ends::ends) event.fixed(kFlowEnd, arrow.number);
    add(ns, event, interned);
  }
  void slice(const Track &track, uint64_t ns, uint64_t length_ns, const SliceBegin &slice) override {
    begin(track, ns, slice);
    end(track, ns + length_ns, {});
  }
  void counter(uint32_t process, const std::string &name, const char *unit, uint64_t ns, uint64_t value) override {
    const auto [known, fresh] = counters_.try_emplace({process, name}, kFirstCounter + counters_.size());
    if (fresh) {
      Message counter;
      counter.text(6, unit);
      Message descriptor;
      descriptor.number(1, known->second);
      descriptor.text(2, valid_utf8(name));
      descriptor.number(5, process_track(process));
      descriptor.message(8, counter);
      describe(descriptor);
    }
    Message event;
    event.number(kType, kCounter);
    event.number(kTrackId, known->second);
    event.number(kCounterValue, value);
    add(ns, event, {});
  }
  void finish() override {}

 private:
  static constexpr uint64_t kFirstThread = uint64_t{1} << 24;
  static constexpr uint64_t kFirstCounter = uint64_t{1} << 60;

  static uint64_t process_track(uint32_t process) { return uint64_t{process} << 28 | uint64_t{1} << 61; }
  static uint64_t track_of(const Track &track) { return process_track(track.process) + track.thread; }

  /// Names are told once, and meant by their numbers.
  uint64_t number_of(Names kind, std::string_view text, Message *interned) {
    auto &names = names_[kind];
    const auto found = names.find(text);
    if (found != names.end()) return found->second;
    const uint64_t number = names.size() + 1;
    names.emplace(text, number);
    Message name;
    name.number(1, number);
    name.text(2, valid_utf8(std::string(text)));
    interned->message(kind, name);
    return number;
  }
  void head(Type type, const Track &track, const SliceBegin &what, Message *event, Message *interned) {
    event->number(kType, type);
    event->number(kTrackId, track_of(track));
    event->number(kCategoryId, number_of(kCategories, what.category, interned));
    event->number(kNameId, number_of(kEventNames, what.name, interned));
    add_details(what.details, event, interned);
  }
  void add_details(const std::vector<Detail> &details, Message *event, Message *interned) {
    for (const Detail &each : details) {
      Message detail;
      detail.number(1, number_of(kDebugNames, each.name, interned));
      if (each.is_text) {
        detail.number(17, number_of(kDebugTexts, each.text, interned));
      } else {
        detail.number(4, static_cast<uint64_t>(each.number));
      }
      event->message(kDebug, detail);
    }
  }
  void describe(const Message &descriptor) {
    Message packet;
    packet.message(kDescriptor, descriptor);
    write(&packet);
  }
  void add(uint64_t ns, const Message &event, const Message &interned) {
    Message packet;
    packet.number(kTimestamp, ns);
    if (!interned.empty()) packet.message(kInterned, interned);
    packet.message(kTrackEvent, event);
    write(&packet);
  }
  /// All packets are of one sequence, whose names hold from its first on.
  void write(Message *packet) {
    packet->number(kSequence, 1);
    packet->number(kFlags, first_ ? 1 : 2);
    first_ = false;
    Message trace;
    trace.message(1, *packet);
    out_.write(trace.bytes());
  }

  OutFile &out_;
  bool first_ = true;
  uint64_t threads_ = 0;
  std::map<Names, std::map<std::string, uint64_t, std::less<>>> names_;
  std::map<std::pair<uint32_t, std::string>, uint64_t> counters_;
};

}  // namespace

std::unique_ptr<TimelineWriter> perfetto_writer(OutFile *out) { return std::make_unique<PerfettoWriter>(out); }

}  // namespace cairn::exporting
