// The raw logger: what the generated per-function loggers call to write one MPI call down, uncompressed and unnamed.
//
// A generated logger for MPI_Recv reads
//
//   static int log_MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
//                           MPI_Status *status) {
//     Entry entry(kRecv);
//     entry.pointer(0, buf);
//     entry.value(1, count);
//     entry.handle(2, &datatype, sizeof datatype);
//     …                                       // every parameter that is significant; the others are not mentioned
//     entry.called();
//     int result = reinterpret_cast<int (*)(void *, …)>(pmpi[kRecv])(buf, count, …);
//     entry.returned(result, class_of(result));
//     if (result == MPI_SUCCESS) entry.statuses(6, status, 1);     // outputs that are valid
//     entry.end();
//     return result;
//   }
//
// Calls that may not return (MPI_Abort) are on disk after `called`. Nested calls end before the outer one and are
// written before it. An Entry has no destructor: exceptions and longjmp may leave through the call; the next Entry of
// the thread finds what was left behind by comparing stack addresses and writes it as a call that never returned.
//
// One file a thread, DIR/<host>-<pid>.<thread>.log, made at the thread's first call, written through a shared mapping
// so that a killed process loses nothing; DIR comes from the environment variable CAIRN_ORACLE. All memory is mmapped
// here: malloc is never called (the recorder under test tracks it). Never throws; when memory or disk runs out the log
// is marked as cut short and nothing more is written. Any thread; an Entry belongs to the thread that made it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::oracle {

struct ThreadLog;

/// What an entry in the log is. Part of the log's format (reader.h).
enum class Tag : uint8_t {
  value = 1,  ///< one integer, sign-extended (doubles: their bits)
  values,     ///< an array of integers
  pointer,    ///< an address
  pointers,   ///< an array of addresses, or of integers that may hold addresses
  handles,    ///< raw handles, one or more, zero-extended to 64 bits
  string,     ///< bytes without the terminating NUL
  strings,    ///< an array of strings, NULL among them
  argvs,      ///< an array of lists of strings
  statuses,   ///< five integers each: source, tag, error code, bytes, cancelled
  null,       ///< the pointer was NULL
  special,    ///< the pointer itself is a constant of MPI (MPI_STATUSES_IGNORE, MPI_ARGV_NULL, MPI_UNWEIGHTED, …)
  errors,     ///< error codes, and the class of each
};

class Entry {
 public:
  explicit Entry(uint32_t function);
  Entry(const Entry &) = delete;
  Entry &operator=(const Entry &) = delete;

  // What the parameters hold: before `called` what the call is given, between `returned` and `end` what it gave.
  // `parameter` counts from 0. `n` is a number of elements; negative counts as 0.
  void value(unsigned parameter, int64_t value) { put_word(parameter, Tag::value, static_cast<uint64_t>(value)); }
  /// `p` points to `n` signed integers of `element_size` (1, 2, 4 or 8) bytes; NULL is logged as null.
  void values(unsigned parameter, const void *p, int64_t n, size_t element_size) {
    put_array(parameter, Tag::values, p, n, element_size);
  }
  void pointer(unsigned parameter, const void *p) { put_word(parameter, Tag::pointer, reinterpret_cast<uintptr_t>(p)); }
  void pointers(unsigned parameter, const void *p, int64_t n) { put_array(parameter, Tag::pointers, p, n, 8); }
  /// `p` points to one handle. Also for handles passed by value: their address.
  void handle(unsigned parameter, const void *p, size_t size) { put_array(parameter, Tag::handles, p, 1, size); }
  void handles(unsigned parameter, const void *p, int64_t n, size_t size) {
    put_array(parameter, Tag::handles, p, n, size);
  }
  /// Up to the NUL or `max` bytes.
  void string(unsigned parameter, const char *s, size_t max = SIZE_MAX);
  /// `n` strings; a negative n: up to the NULL that ends the array.
  void strings(unsigned parameter, const char *const *s, int64_t n);
  /// `n` argument lists, each ended by NULL; an empty list if the i-th is NULL.
  void argvs(unsigned parameter, char *const *const *s, int64_t n);
  void statuses(unsigned parameter, const void *p, int64_t n);
  /// Whether the program asked for no status although a Fortran binding has one.
  [[nodiscard]] bool unwanted(const void *status) const { return status != nullptr && status == unwanted_; }
  /// `n` error codes and their classes (0 of MPI_SUCCESS).
  void errors(unsigned parameter, const int *p, int64_t n, int64_t (*class_of)(int64_t));
  /// A pointer that is itself a constant (MPI_STATUS_IGNORE, MPI_ERRCODES_IGNORE, MPI_ARGVS_NULL, MPI_WEIGHTS_EMPTY,
  /// …).
  void special(unsigned parameter, const void *p) { put_word(parameter, Tag::special, reinterpret_cast<uintptr_t>(p)); }
  /// Beside the handle of a new communicator: how many processes it has, the smallest rank of them in
  /// MPI_COMM_WORLD (-1: none is in there), and this process's place in it.
  void members(unsigned parameter, int64_t count, int64_t smallest, int64_t place);

  /// Immediately before the real call. `may_not_return`: what is known so far goes to disk now.
  void called(bool may_not_return = false);
  /// Immediately after the real call. `error_class`: PMPI_Error_class of a code that isn't MPI_SUCCESS, else 0.
  void returned(int64_t code, int64_t error_class);
  /// For functions whose result isn't an error code (MPI_Wtime, MPI_Aint_add, MPI_Comm_f2c, …).
  void returned_value(int64_t value);
  void returned_double(double value);
  void returned_handle(const void *p, size_t size);

  /// After what the call gave.
  void end();

 private:
  void resume();
  void put_word(unsigned parameter, Tag tag, uint64_t word);
  void put_array(unsigned parameter, Tag tag, const void *p, int64_t n, size_t size);

  ThreadLog *log_;
  const void *unwanted_;
};

/// The real functions by permanent function id, as given to cairn_oracle_attach.
extern void *const *pmpi;

/// A named constant as this MPI library has it: handles zero-extended, integers sign-extended, pointers as they are.
struct ConstantValue {
  uint16_t id;  ///< permanent id in spec/
  uint64_t value;
};

// Written by the generator, one set per MPI library.

/// Puts the logger of every function that this library has at its id; leaves the others alone.
void fill_loggers(void **table);
/// Calls take(context, value) for every constant that this library has.
void local_constants(void (*take)(void *context, ConstantValue value), void *context);
/// One MPI_Status as source, tag, error code, bytes (PMPI_Get_elements_x of MPI_BYTE, or -1), cancelled
/// (PMPI_Test_cancelled).
void read_status(const void *status, int64_t fields[5]);
extern const size_t status_size;
/// Rank and size in MPI_COMM_WORLD; false if that can't be asked now (before init, sessions only).
bool world_rank(int *rank, int *size);

}  // namespace cairn::oracle

// What spec/logger.h says: exported by libcairn-oracle.so.
extern "C" {
__attribute__((visibility("default"))) int cairn_oracle_attach(void *const *pmpi_functions, void **table);
__attribute__((visibility("default"))) void cairn_oracle_watch(const volatile uint32_t *epoch);
__attribute__((visibility("default"))) void cairn_oracle_unwanted(const void **(*place)());
}
