// SmallBlocks: where the recorder's `new` takes small blocks from while a thread turns what it recorded into a trace.
//
// Finishing makes and ends some hundred thousand rows, rules and columns. From the program's malloc (which the preload
// watches) they took a sixth of its instructions, and left the program's heap full of holes. Here a block is taken from
// and given back to a list of its size, in a piece of address space of its own that is returned whole.
//
// A scope: made and ended by one thread, one at a time in a process; a second one, another thread's blocks, larger
// ones, and all where the kernel refuses the address space or it is used up, go to malloc as ever. What still lives
// when the scope ends stays where it is for the rest of the process.
#pragma once

#include <cstddef>

namespace cairn::recorder {

class SmallBlocks {
 public:
  SmallBlocks();
  ~SmallBlocks();
  SmallBlocks(const SmallBlocks &) = delete;
  SmallBlocks &operator=(const SmallBlocks &) = delete;

 private:
  bool begun_;
};

}  // namespace cairn::recorder
