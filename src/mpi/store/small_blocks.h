// SmallBlocks: where the recorder's `new` takes small blocks from while a thread turns what it recorded into a trace.
//
// Finishing makes and ends some hundred thousand rows, rules and columns. From the program's malloc (which the preload
// watches) they took a sixth of its instructions, and left the program's heap full of holes. Here a block is taken from
// and given back to a list of its size, in a piece of address space of its own that is returned whole.
//
// Large ones (tables of many rows) are the kernel's, one by one: from malloc, whose arenas keep what lies below a block
// in use, a thread that writes segment after segment would hold the most that each of them took. Some that were given
// back serve again: the next table of about that size costs no new pages.
//
// A scope: made and ended by one thread, one at a time in a process; a second one, another thread's blocks, those
// between small and large, and all where the kernel refuses the address space or it is used up, go to malloc as ever.
// What still lives when the scope ends stays where it is for the rest of the process.
//
// What `new` has taken, small or not, is counted: `cairn info` says what finishing took.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

class SmallBlocks {
 public:
  SmallBlocks();
  ~SmallBlocks();
  SmallBlocks(const SmallBlocks &) = delete;
  SmallBlocks &operator=(const SmallBlocks &) = delete;

  /// The most that the recorder's blocks took at a time, in bytes, since `count_anew` was called the last time. Of
  /// small ones the pieces count that they lie in.
  [[nodiscard]] static size_t most_held();
  static void count_anew();

 private:
  bool begun_;
};

/// A buffer that is malloc's, to be counted as long as this lives.
class CountedBuffer {
 public:
  explicit CountedBuffer(uint64_t bytes);
  ~CountedBuffer();
  CountedBuffer(const CountedBuffer &) = delete;
  CountedBuffer &operator=(const CountedBuffer &) = delete;

 private:
  uint64_t bytes_;
};

}  // namespace cairn::recorder
