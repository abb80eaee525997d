// The matrix at any zoom, from all pairs that exchange something: sums of blocks, and the largest pairs.
import { rangesOf } from './format';
import type { Matrix, MatrixAsk, Pair } from './protocol';
import { KINDS, type Matrix as ReaderMatrix } from './reader';

const kLargest = 500;

export type Traffic = Omit<ReaderMatrix, 'expanded_ranks'>;

/** Rows in the order of a column, all below `below`; those of one value as they were. Cost: the rows and `below`. */
function orderedBy(rows: Uint32Array, column: Uint32Array, below: number): Uint32Array {
  const next = new Uint32Array(below + 1);
  for (const row of rows) ++next[column[row]! + 1]!;
  for (let i = 1; i <= below; ++i) next[i]! += next[i - 1]!;
  const ordered = new Uint32Array(rows.length);
  for (const row of rows) ordered[next[column[row]!]!++] = row;
  return ordered;
}

/** Of one kind or all, one communicator or all, and what these ranks ("0-3,8", or "" for all) send or are sent, with one
 * row for each pair. Cost: the pairs and the ranks. */
export function onlyOf(all: Traffic, kind: string, communicator: string, ranks: string): Traffic {
  const wanted = (KINDS as readonly string[]).indexOf(kind);
  const of = all.communicators.indexOf(communicator);
  const first = all.kind[0];
  const chosen = new Uint8Array(all.ranks);
  for (const [low, high] of rangesOf(ranks)) chosen.fill(1, low, high + 1);
  const has = (i: number) => ranks === '' || chosen[all.from[i]!] === 1 || chosen[all.to[i]!] === 1;
  if (ranks === '' && wanted < 0 && of < 0 && all.communicators.length < 2 && all.kind.every((one) => one === first)) return all;
  let order: Uint32Array = new Uint32Array(all.from.length);
  let taken = 0;
  for (let i = 0; i < order.length; ++i)
    if ((wanted < 0 || all.kind[i] === wanted) && (of < 0 || all.communicator[i] === of) && has(i)) order[taken++] = i;
  order = order.subarray(0, taken);
  if (of < 0 && all.communicators.length > 1) order = orderedBy(orderedBy(order, all.to, all.ranks), all.from, all.ranks);
  // The first row of each pair, and the sums of all of them.
  const rows = new Uint32Array(taken);
  const messages = new Float64Array(taken);
  const bytes = new Float64Array(taken);
  const unsized = new Float64Array(taken);
  let pairs = 0;
  for (const i of order) {
    const last = rows[pairs - 1];
    if (last === undefined || all.from[last] !== all.from[i] || all.to[last] !== all.to[i]) rows[pairs++] = i;
    messages[pairs - 1]! += all.messages[i]!;
    bytes[pairs - 1]! += all.bytes[i]!;
    unsized[pairs - 1]! += all.unsized[i]!;
  }
  const at = (column: Uint32Array) => rows.subarray(0, pairs).map((row) => column[row]!);
  return {
    ...all,
    from: at(all.from),
    to: at(all.to),
    kind: at(all.kind),
    communicator: at(all.communicator),
    messages: messages.slice(0, pairs),
    bytes: bytes.slice(0, pairs),
    unsized: unsized.slice(0, pairs),
  };
}

export function kindsOf(all: Traffic): string[] {
  return [...new Set(all.kind)].sort().map((kind) => KINDS[kind] ?? '');
}

/** Of what has one row for each pair. Cost: the pairs. */
export function matrixOf(pairs: Traffic, kinds: string[], ask: MatrixAsk): Matrix {
  const { ranks } = pairs;
  const size = ask.size === 0 ? ranks : Math.min(ask.size, ranks);
  const block = Math.max(1, Math.ceil(size / Math.max(1, ask.cells)));
  const cells = Math.max(1, Math.ceil(size / block));
  const values = new Float64Array(cells * cells);
  const of = ask.messages ? pairs.messages : pairs.bytes;
  let sum = 0;
  // The largest so far, the least of them first.
  const heap: number[] = [];
  const sift = (at: number) => {
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && of[heap[child]!]! < of[heap[least]!]!) least = child;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least]!, heap[at]!];
      at = least;
    }
  };
  for (let i = 0; i < pairs.from.length; ++i) {
    const value = of[i]!;
    sum += value;
    const row = pairs.from[i]! - ask.row;
    const column = pairs.to[i]! - ask.column;
    if (row < 0 || column < 0 || row >= size || column >= size) continue;
    values[Math.floor(row / block) * cells + Math.floor(column / block)]! += value;
    if (heap.length < kLargest) {
      heap.push(i);
      if (heap.length === kLargest) for (let at = kLargest >> 1; at >= 0; --at) sift(at);
    } else if (value > of[heap[0]!]!) {
      heap[0] = i;
      sift(0);
    }
  }
  const largest = heap.sort((a, b) => of[b]! - of[a]! || a - b).map((i): Pair => ({
    from: pairs.from[i]!,
    to: pairs.to[i]!,
    messages: pairs.messages[i]!,
    bytes: pairs.bytes[i]!,
  }));
  const unsized = pairs.unsized.reduce((a, b) => a + b, 0);
  return {
    ranks, size, cells, block, values, sum, pairs: pairs.from.length, largest, kinds, communicators: pairs.communicators,
    collectives: pairs.collectives, unsized, nowhere: pairs.unknown_processes,
  };
}
