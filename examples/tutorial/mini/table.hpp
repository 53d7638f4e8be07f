// Table<T>: values under names. A std::unordered_map would do; this one reads less memory in a
// lookup, which is most of what a GET costs (chapter 12 of the tutorial measures it).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace mini {

/// A name and its hash, which is computed once for all that looks it up.
struct Name {
  Name(std::string_view its_text) : text(its_text), hash(hash_of(its_text)) {}

  /// Eight bytes at a time. (A server for strangers would begin with a number of its own, so that
  /// nobody can choose names that all meet in one place.)
  static std::size_t hash_of(std::string_view text) {
    std::uint64_t hash = text.size();
    for (; text.size() > 8; text.remove_prefix(8)) hash = mix(hash, text.data(), 8);
    hash = mix(hash, text.data(), text.size());
    return hash ^ (hash >> 32);
  }

  std::string_view text;
  std::size_t hash;

 private:
  static std::uint64_t mix(std::uint64_t hash, const char* bytes, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, size);
    return (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15;
  }
};

// [table]
/// A slot is where the low bits of the hash say, or behind that, with no empty slot between: linear
/// probing. At most half of the slots are used.
template <class T>
class Table {
 public:
  T* find(Name name) {
    const std::size_t at = place(name);
    return at < slots_.size() && slots_[at].node ? &slots_[at].node->value : nullptr;
  }
  /// The value of that name, new if there is none. Values stay where they are.
  T& find_or_make(Name name) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(name)];
    if (!slot.node) {
      slot.hash = name.hash;
      slot.node = Node::make(name.text);
      ++size_;
    }
    return slot.node->value;
  }
  bool erase(Name name) {
    const std::size_t at = place(name);
    if (at >= slots_.size() || !slots_[at].node) return false;
    slots_[at].node.reset();
    --size_;
    close_gap(at);
    return true;
  }
  // [/table]
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { *this = Table(); }

 private:
  // [node]
  /// A value, and behind it in the same block its name: a lookup reads one place, not two.
  struct Node {
    struct Free {
      void operator()(Node* node) const {
        std::destroy_at(node);
        ::operator delete(node);
      }
    };
    using Pointer = std::unique_ptr<Node, Free>;

    static Pointer make(std::string_view text) {
      Pointer node(new (::operator new(sizeof(Node) + text.size())) Node());
      node->size = text.size();
      std::ranges::copy(text, reinterpret_cast<char*>(node.get() + 1));
      return node;
    }
    [[nodiscard]] std::string_view name() const {
      return {reinterpret_cast<const char*>(this + 1), size};
    }

    std::size_t size = 0;
    T value{};
  };
  // [/node]
  struct Slot {
    std::size_t hash = 0;
    typename Node::Pointer node;  // null: the slot is empty
  };

  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  // [place]
  /// The slot of a name, or the empty one where it would be.
  [[nodiscard]] std::size_t place(Name name) const {
    if (slots_.empty()) return 0;
    std::size_t at = name.hash & (slots_.size() - 1);
    while (slots_[at].node &&
           (slots_[at].hash != name.hash || slots_[at].node->name() != name.text)) {
      at = next(at);
    }
    return at;
  }
  // [/place]
  /// Moves what follows a gap into it, unless that would put it before its place.
  void close_gap(std::size_t gap) {
    for (std::size_t at = next(gap); slots_[at].node; at = next(at)) {
      const std::size_t mask = slots_.size() - 1;
      if (((at - slots_[at].hash) & mask) < ((at - gap) & mask)) continue;
      std::swap(slots_[gap], slots_[at]);
      gap = at;
    }
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
    old.swap(slots_);
    for (Slot& slot : old) {
      if (!slot.node) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].node) at = next(at);
      slots_[at] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // their number is a power of two
  std::size_t size_ = 0;
};

}  // namespace mini
