#include "trace/merge/classes_merge.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "trace/code/plain_class.h"
#include "trace/merge/class_merge.h"

namespace cairn::trace {
namespace {

/// Words in memory of all classes that a part holds open. A stencil's class has some 2,000, in 50 KiB.
constexpr size_t kMostOpen = 12'000;

using Held = std::variant<ClassPart, PackedClass>;

ClassHead &head_of(Held *held) {
  return std::visit([](ClassHead &head) -> ClassHead & { return head; }, *held);
}

std::vector<Held> taken_out(Part::Body *body) {
  std::vector<Held> all;
  all.reserve(body->classes.size() + body->packed.size());
  for (ClassPart &part : body->classes) all.emplace_back(std::move(part));
  for (PackedClass &part : body->packed) all.emplace_back(std::move(part));
  body->classes.clear();
  body->packed.clear();
  return all;
}

/// Classes by their keys and skeletons: the first one that has it.
class Known {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  void add(const ClassHead &head, size_t number) {
    keys_.add(head.key, number);
    skeletons_.add(head.skeleton, number);
  }
  void has_other_key(const Hash128 &before, const Hash128 &now, size_t number) {
    keys_.remove(before);
    keys_.add(now, number);
  }
  [[nodiscard]] size_t with_key(const Hash128 &key) const { return keys_.find(key); }
  [[nodiscard]] size_t with_skeleton(const Hash128 &skeleton) const { return skeletons_.find(skeleton); }

 private:
  /// Most parts have a class or two: a map would cost more than it finds.
  class Numbers {
   public:
    void add(const Hash128 &hash, size_t number) {
      if (few_.size() < kFew && many_.empty()) {
        few_.emplace_back(hash, number);
        return;
      }
      for (const auto &[known, i] : few_) many_.emplace(known, i);
      few_.clear();
      many_.emplace(hash, number);
    }
    void remove(const Hash128 &hash) {
      many_.erase(hash);
      const auto found = std::ranges::find(few_, hash, &std::pair<Hash128, size_t>::first);
      if (found != few_.end()) few_.erase(found);
    }
    [[nodiscard]] size_t find(const Hash128 &hash) const {
      const auto found = std::ranges::find(few_, hash, &std::pair<Hash128, size_t>::first);
      if (found != few_.end()) return found->second;
      const auto among = many_.find(hash);
      return among == many_.end() ? kNone : among->second;
    }

   private:
    static constexpr size_t kFew = 8;
    std::vector<std::pair<Hash128, size_t>> few_;  ///< ascending numbers, but for what has another key now
    std::unordered_map<Hash128, size_t, HashOf128> many_;
  };
  Numbers keys_;
  Numbers skeletons_;
};

class Merge {
 public:
  explicit Merge(Part::Body *left) : body_(*left), all_(taken_out(left)) {
    for (size_t i = 0; i < all_.size(); ++i) know(i);
  }

  Result<void> add(Held right) {
    if (const size_t found = known_.with_key(head_of(&right).key); found != Known::kNone) {
      return join(found, std::move(right));
    }
    if (const size_t candidate = known_.with_skeleton(head_of(&right).skeleton); candidate != Known::kNone) {
      Result<bool> alike = unified(candidate, &right);
      if (!alike) return tl::unexpected(alike.error());
      if (*alike) return join(candidate, std::move(right));
    }
    all_.push_back(std::move(right));
    know(all_.size() - 1);
    return {};
  }

  Result<void> put_back() {
    size_t plain = 0;
    for (Held &held : all_) {
      if (auto *open = std::get_if<ClassPart>(&held)) {
        body_.classes.push_back(std::move(*open));
        continue;
      }
      auto &packed = std::get<PackedClass>(held);
      if (!packed.squeezed() && plain + packed.size > kMostPlain) squeeze(&packed);
      if (!packed.squeezed()) plain += packed.size;
      body_.packed.push_back(std::move(packed));
    }
    std::sort(body_.classes.begin(), body_.classes.end(), stands_before);
    std::sort(body_.packed.begin(), body_.packed.end(), stands_before);
    return {};
  }

 private:
  void know(size_t i) { known_.add(head_of(&all_[i]), i); }

  Result<void> open(Held *held) {
    auto *packed = std::get_if<PackedClass>(held);
    if (packed == nullptr) return {};
    Result<ClassPart> part = unpack(std::move(*packed));
    Result<void> checked = part ? check(&*part, *packed) : tl::unexpected(part.error());
    if (checked) *held = *std::move(part);
    return checked;
  }

  /// What is merged must be what its keys say.
  Result<void> check(ClassPart *part, const PackedClass &packed) const {
    if (!packed.received) return {};
    const Hash128 key = part->key;
    const Hash128 skeleton = part->skeleton;
    body_.set_key(part);
    if (part->key == key && part->skeleton == skeleton) return {};
    return tl::unexpected(malformed("is not what its keys say", packed));
  }

  static Error malformed(const char *what, const PackedClass &packed) {
    return {ErrorKind::unreadable, std::string("a packed class ") + what, {}, packed.offset, {}};
  }

  Result<bool> unified(size_t left, Held *right) {
    for (Held *held : {&all_[left], right}) {
      Result<void> opened = open(held);
      if (!opened) return tl::unexpected(opened.error());
    }
    auto &part = std::get<ClassPart>(all_[left]);
    const Hash128 before = part.key;
    const bool alike = unify(&part, &std::get<ClassPart>(*right));
    body_.set_key(&part);
    known_.has_other_key(before, part.key, left);
    return alike;
  }

  Result<void> join(size_t left, Held right) {
    Result<void> opened = open(&all_[left]);
    if (!opened) return opened;
    auto &part = std::get<ClassPart>(all_[left]);
    Result<bool> joined = join_plain(&part, &right);
    if (!joined) return tl::unexpected(joined.error());
    if (!*joined) {
      opened = open(&right);
      if (!opened) return opened;
      Result<void> merged = merge_class(&part, std::get<ClassPart>(std::move(right)));
      if (!merged) return merged;
    }
    // The next pair needs the room; and many small classes would take it, too.
    const size_t words = words_of(part);
    left_open_ += words;
    if (words <= kMostOpen / std::min<size_t>(all_.size(), 4) && left_open_ <= kMostOpen) return {};
    left_open_ -= words;
    all_[left] = pack(std::move(part));
    return {};
  }

  /// If `right` is packed and of left's own structure. Otherwise it is as it was, or open.
  Result<bool> join_plain(ClassPart *left, Held *right) {
    auto *packed = std::get_if<PackedClass>(right);
    if (packed == nullptr) return false;
    Bytes room;
    const Result<ByteView> bytes = plain_bytes(*packed, &room);
    if (!bytes) return tl::unexpected(bytes.error());
    PlainClass plain;
    if (!plain.read(*bytes, *packed)) return tl::unexpected(malformed("is malformed", *packed));
    Result<bool> merged = merge_plain(left, packed, &plain);
    if (!merged || *merged) return merged;
    ClassPart part;
    const char *wrong = plain.made(std::move(static_cast<ClassHead &>(*packed)), &part);
    if (wrong != nullptr) return tl::unexpected(malformed(wrong, *packed));
    Result<void> checked = check(&part, *packed);
    if (!checked) return tl::unexpected(checked.error());
    *right = std::move(part);
    return false;
  }

  Part::Body &body_;
  size_t left_open_ = 0;  ///< words of what was merged and not packed again
  std::vector<Held> all_;
  Known known_;
};

}  // namespace

Result<void> merge_classes(Part::Body *left, Part::Body *right) {
  Merge merge(left);
  for (Held &held : taken_out(right)) {
    Result<void> added = merge.add(std::move(held));
    if (!added) return added;
  }
  Result<void> put_back = merge.put_back();
  // One class alone was measured when it was joined.
  if (put_back && left->classes.size() + left->packed.size() > 1) settle(left);
  return put_back;
}

void settle(Part::Body *body) {
  size_t words = 0;
  for (const ClassPart &part : body->classes) words += words_of(part);
  if (words <= kMostOpen) return;
  for (ClassPart &part : body->classes) {
    body->packed.push_back(pack(std::move(part)));
    squeeze(&body->packed.back());
  }
  body->classes.clear();
  std::sort(body->packed.begin(), body->packed.end(), stands_before);
}

}  // namespace cairn::trace
