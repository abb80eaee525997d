// The matrix at any zoom, from all pairs that exchange something: sums of blocks, and the largest pairs.
import type { Matrix, MatrixAsk, Pair, Pairs } from './protocol';

const kLargest = 500;

/** Cost: the pairs. */
export function matrixOf(pairs: Pairs, ranks: number, ask: MatrixAsk): Matrix {
  const size = ask.size === 0 ? ranks : Math.min(ask.size, ranks);
  const cells = Math.max(1, Math.min(ask.cells, size));
  const block = Math.ceil(size / cells);
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
  return { ranks, size, cells, block, values, sum, pairs: pairs.from.length, largest };
}
