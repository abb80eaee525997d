/* The reader: a trace in memory, asked through C. The same functions are those of the WebAssembly modules (reader.ts is
 * JavaScript's side of them) and of the host's library cairn_reader. reader.wasm, which pages of `cairn report` hold,
 * has all but reader_summary, reader_sizes and reader_loops, a sixth of their code; reader-verbs.wasm has these, too.
 *
 * One trace is open at a time, in one thread. A question gives a *result*: the address of a block of columns, which
 * stays until the next question; or NULL, and `reader_error` tells why. A block is, little-endian and at an address
 * that is a multiple of eight:
 *
 *   u32 columns, u32 bytes of the block;
 *   for each column u32 type, u32 count of elements, u32 offset in the block, u32 0;
 *   the columns, each at a multiple of eight bytes.
 *
 * Type 1 is UTF-8 text, an element a byte; 3 is u32; 5 is f64. Where many texts are a column, it is two: where each one
 * ends (u32, in units of UTF-16, as JavaScript counts), and all of them (1). Numbers of 64 bits are told as f64, which
 * holds all up to 2^53; a result with a greater one is refused, but for times of strips, which are rounded from 104
 * days on. Times are in nanoseconds on the axis of the run (trace/read/axis.h).
 *
 * Memory that cannot be had ends the module (WebAssembly.RuntimeError; `reader_wanted_memory` then says how much it
 * was) or the process.
 */
#ifndef CAIRN_READER_H
#define CAIRN_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __wasm__
#define READER_IMPORTED __attribute__((import_module("env"), import_name("reader_read")))
#else
#define READER_IMPORTED
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef const uint8_t *reader_result;

/* Memory to put a trace into, or a list that a question takes. NULL if there is none. */
uint8_t *reader_alloc(size_t bytes);
void reader_free(uint8_t *block);
/* How many bytes could not be had when the module ended; 0 if that was not why. In the host's library always 0. */
uint32_t reader_wanted_memory(void);

/* Opens the trace in a block of `reader_alloc`, which is the reader's from then on. 0, or 1: `reader_error` tells why,
 * and no trace is open. What was open is closed first. Cost: what opening a trace costs (trace/read/trace.h). */
int32_t reader_open(uint8_t *bytes, size_t length);
/* The same of a trace of `size` bytes that lies elsewhere: all of it but its blocks is read at once, and each block
 * when something of it is asked. */
int32_t reader_open_elsewhere(double size);
/* What reads it, which whoever has the module provides, in env: bytes of it from `offset` on to `into`, and how many
 * they are, up to `size`; -1: it cannot be read. In the host's library it cannot, unless
 * the program has its own. */
READER_IMPORTED int32_t reader_read(double offset, uint32_t size, uint8_t *into);
void reader_close(void);

/* One text, JSON: why the last question failed. {"message", "where" (file and byte, or ""), "hint"} */
reader_result reader_error(void);

/* One text, JSON: the run. {"command", "mpi", "recorder", "status", "begin" (ISO 8601), "begin_unix_ns" (a text),
 * "wall_ns", "world_size", "ranks" (as in "0-7,12"), "rank_count", "classes", "threads", "calls", "distinct_calls",
 * "functions", "communicators", "timing", "times" ("none", "statistics", "calls"), "gaps", "exactness", "stacks",
 * "hosts", "incomplete", "degraded", "failures", "bytes" (by section)}. What costs the distinct calls of all ranks,
 * "communicators" and "failures", is left out if `everything` is 0. */
reader_result reader_run(int32_t everything);

/* A row for each class: thread (u32), segment (u32; 4294967295: after MPI_Finalize), members (u32), where its runs of
 * ranks end in the next column (u32), first, last and step of each run (u32, three each), calls of its first member and
 * of all (f64). */
reader_result reader_classes(void);

/* A row for each group, by their numbers: calls of one function at one call site, at one depth, of all classes.
 * Function (texts), call site (texts: "main.c:42 in exchange()", or ""), file (texts), the function that calls there
 * (texts), its callers, a line each (texts), line (u32), depth (u32), sort (u32: timeline/strip.h), calls (f64). */
reader_result reader_groups(void);

/* For each group: how many of its calls times are known of, how long they took together, the shortest, the longest, and
 * the median, the 95th and the 99th percentile, all of f64; -1: not known; then by how much percentiles may be off, as
 * a share (f64). Groups that only their depth tells apart have those of all. Where the trace has the time of each call,
 * all are gone through the first time. */
reader_result reader_durations(void);

/* How many calls a rank made, one f64. */
reader_result reader_count(uint32_t rank);

/* Calls of a rank in order, from number `first` on, until there are `most` rows, or `walked` calls were looked at. Only
 * those of `thread`, unless it is 4294967295; of `groups`, a list of `group_count` numbers, unless it is NULL; and
 * whose text has `needle` in it (as it stands, of `needle_length` bytes) if that is not 0. Columns: number (f64),
 * thread (u32), group (u32), segment (u32), begin, duration and time outside MPI before it (f64; -1: not known), bytes
 * that it moves (f64; -1: it moves none; -2: not known), texts as `cairn dump` prints them; and one f64, the number to
 * go on from, -1 at the end. */
reader_result reader_calls(uint32_t rank, uint32_t thread, double first, uint32_t most, double walked,
                           const uint32_t *groups, size_t group_count, const char *needle, size_t needle_length);

/* The number of the first call of a rank that ends at that moment or later, one f64; -1 if there is none, or the trace
 * does not have times. */
reader_result reader_call_at(uint32_t rank, double ns);

/* Who sends how much to whom: a row for each pair of ranks and kind of traffic (traffic/matrix.h): from, to, kind (u32;
 * 0 a message, then as traffic/flows.h has them), messages, bytes of those whose size is known, messages whose size is
 * not (f64), communicator (u32, among the names below); then one text, JSON: {"ranks", "communicators" (names),
 * "collectives" (as in `cairn matrix --json`), "unknown_processes", "expanded_ranks"}. Only of calls of `groups`, a
 * list of `group_count` numbers, unless it is NULL. Rows of one communicator stand together, unless `by_communicator`
 * is 0: then all are of one without a name. */
reader_result reader_matrix(const uint32_t *groups, size_t group_count, int32_t by_communicator);

/* One text each: what `cairn summary`, `sizes` and `loops` say with --json, with "file" "". `by` of summaries: 0
 * function, 1 call site, 2 rank; of sizes: 0 operation, 1 communicator, 2 call site, and a line for each size if
 * `exact` is not 0. Loops are those of all kinds of ranks. */
reader_result reader_summary(uint32_t by);
reader_result reader_sizes(uint32_t by, int32_t exact);
reader_result reader_loops(void);

/* What ranks did over a window: time outside MPI and in each kind of call, in columns of equal length and lines of one
 * or several ranks (timeline/strip.h). `by`: 0 sorts of calls, 1 functions, 2 functions at call sites. `ranks`:
 * `rank_runs` pairs of first and last, ascending; NULL: all. An `end` beyond the run is that of the run. `fold`: which
 * ranks share a line where there are more than `lines`: 0 neighbours, 1 those of one class. At most `most_calls` calls
 * are gone through; where the window has more, what follows is coarse, of an overview of the whole run that each
 * question brings forward: ask again for more of it, or for a smaller window.
 *
 * Columns: numbers (nine f64): the axis (0 measured, 1 estimated from means, 2 each call takes 1,000 ns), the end of
 * the run, begin and end of the window, columns, whether it is coarse, for how many ranks it is there, how many are
 * wanted, calls or sums that were gone through; kinds (texts), the first is "outside MPI"; where each line's runs end
 * in the next column (u32); first and last of each run (u32); lines × columns × kinds, ns of a rank in the mean (f64).
 */
reader_result reader_strip(uint32_t by, const uint32_t *ranks, size_t rank_runs, uint32_t fold, double begin,
                           double end, uint32_t columns, uint32_t lines, double most_calls);

/* Calls of a thread that have a part in a window, at most `most`: number among those of the thread, begin, end (f64),
 * kind as in reader_strip, group, depth (u32); one f64, 1 if there are more. */
reader_result reader_drawn(uint32_t by, uint32_t rank, uint32_t thread, double begin, double end, uint32_t most);

/* The messages among some ranks (`ranks`: as in reader_strip) that were on their way in a window and of which both ends
 * have a time, in an order in which they can have arrived, the first `most` of them (analyze/messages.h): from, to
 * (u32), the begin of the call that sent it or started to, the end of the one that completed its receive, the numbers
 * of these two calls, bytes (-1: not known), tag (f64); then three f64: 1 if there are more, how many messages could
 * not be matched, and 0, or how many calls in front of the window would have to be gone through, where they are more
 * than `most_before`: then there is nothing else. Turns of loops that are all the same need not be, so that is not a
 * matter of where the window lies (turns/replay_part.h). */
reader_result reader_messages(const uint32_t *ranks, size_t rank_runs, double begin, double end, double most,
                              double most_before);

/* Goes through all calls of a rank, and makes their texts if `texts` is not 0: how many they are, and how many bytes of
 * text, two f64. For measuring. */
reader_result reader_walk(uint32_t rank, int32_t texts);

#ifdef __cplusplus
}
#endif

#endif
