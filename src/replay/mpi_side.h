// What the replayer needs of an MPI library, as words, so that only src/replay/mpi and what spec/generate.py writes
// (`invokers`) know an mpi.h: they are compiled once for each library, everything else once.
//
// A word is an argument or a result as the C call takes it: integers sign-extended, handles and pointers as they are,
// doubles as their bits. What begins with "Not recorded" goes through PMPI_, past any recorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cairn::replay {

using Word = uint64_t;

/// Calls one function of MPI with these words.
using Invoke = Word (*)(const Word *words);

/// By the function's id in spec/; those that the library lacks are left alone.
void fill_invokers(Invoke *table);
/// By the constant's id in spec/; those that the library lacks have no value.
void fill_constants(std::vector<std::optional<Word>> *table);

/// Bytes in memory.
extern const size_t kHandleSize;
extern const size_t kFileSize;  ///< of an MPI_File
extern const size_t kStatusSize;

/// "MPICH", "Open MPI": what the library calls itself.
std::string_view library_name();

/// A status as a program sees it.
struct StatusValues {
  int source = 0;
  int tag = 0;
  int error = 0;
  int64_t bytes = 0;
  bool cancelled = false;
};
/// Not recorded. MPI must be initialised.
void write_status(void *status, const StatusValues &values);

/// Not recorded. MPI is initialised, and not finalised.
bool is_running();
/// Not recorded. Whether the library says that it takes addresses on CUDA's devices; MPI is initialised.
bool takes_device_memory();
/// Not recorded. What a request has to do is done; also of one that is inactive.
bool is_done(Word request);
/// Not recorded. Whether such a message is there.
bool is_there(int source, int tag, Word comm);
/// Not recorded. Of this process.
int rank_in(Word comm);
/// Not recorded. The rank in MPI_COMM_WORLD of a rank of a window that MPI_Win_create_dynamic made; nothing of other
/// windows, and of what is no rank.
std::optional<uint32_t> dynamic_target(Word window, int rank);
/// Not recorded. Lets MPI go on with what others want of this process, whatever they reach it by.
void go_on();
/// Not recorded. Whether a partition of a message has arrived.
bool has_arrived(Word request, int partition);
/// Not recorded. MPI_SUCCESS is 0.
int error_class(Word code);
/// Not recorded.
void finalize();
/// Not recorded. Ends the whole job.
[[noreturn]] void abort_job(int code);
/// Not recorded. The bytes that `count` elements of a datatype span, from the first to behind the last, and where the
/// first begins.
struct Span {
  int64_t begin = 0;
  int64_t bytes = 0;
};
Span span_of(int64_t count, Word datatype);
/// Not recorded, collective over MPI_COMM_WORLD. Sums at rank 0.
void add_up(std::vector<uint64_t> *numbers);

/// The address of what stands in for a program's function, which must be of that C type ("MPI_User_function*"): it
/// makes the calls that `make_nested_calls` has, and answers what lets MPI go on. 0: there is no such type.
Word stand_in_for(std::string_view ctype);
/// Makes the calls that the program's function made, and fills the status that it was given, if any. Of walker.cc.
void make_nested_calls(void *status = nullptr);
/// Whether the call that is being made failed in the recording, which is then the doing of the function that MPI calls
/// in it. Of walker.cc.
bool is_to_fail();

}  // namespace cairn::replay
