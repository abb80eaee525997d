// What the page asks of the worker that holds the reader, and what comes back.
import type { CollectiveUse, Messages, MessagesAsked } from './reader';

export type { Messages, MessagesAsked };

export interface Group {
  fn: string;
  site: string;
  file: string;
  line: number;
  sort: string;
  calls: number;
}

export interface ClassInfo {
  ranks: string;
  thread: number;
  segment: number;
  calls: number;
}

export interface Opened {
  ranks: string;
  classes: ClassInfo[];
  groups: Group[];
  /** Of all ranks. */
  calls: number;
  /** Each call has its time. */
  timed: boolean;
}

export type Axis = 'measured' | 'estimated' | 'calls';

export interface StripAsk {
  by: 'sort' | 'function' | 'site';
  ranks: string;
  fold: 'neighbours' | 'classes';
  from: number | null;
  to: number | null;
  columns: number;
  lines: number;
  /** At most so many are gone through for it. */
  mostCalls: number;
}

export interface StripLine {
  ranks: string;
  count: number;
}

export interface Strip {
  axis: Axis;
  /** Of the whole run, in ns; where times are not known, each call is 1,000 of them long. */
  whole: [number, number];
  begin: number;
  end: number;
  columns: number;
  kinds: string[];
  lines: StripLine[];
  /** lines × columns × kinds, in ns of a rank in the mean. */
  ns: Float64Array;
  /** Too many calls for this zoom: shares are even within columns of the whole run. */
  coarse: boolean;
  /** Calls that were gone through for it, or sums of them; 0 where it is coarse and all was there. */
  steps: number;
  /** For which part of the ranks it is there; less than 1: ask again for more. */
  done: number;
}

export interface DrawnAsk {
  by: StripAsk['by'];
  /** One rank a line. */
  ranks: number[];
  from: number;
  to: number;
  /** Of all ranks together. */
  most: number;
}

export interface DrawnCall {
  index: number;
  /** ns of the axis. */
  begin: number;
  end: number;
  kind: number;
  group: number;
  depth: number;
}

export interface CallsAsk {
  rank: number;
  thread: number | null;
  /** From this call on, as counted without a filter. */
  from: number;
  most: number;
  /** Of these groups; null: of all. */
  groups: number[] | null;
  text: string;
  /** At most so many are looked at in one go. */
  walk: number;
}

export interface CallRow {
  index: number;
  thread: number;
  /** After MPI_Finalize had ended the recording. */
  epilogue: boolean;
  group: number;
  /** Seconds; null where it is not known. */
  begin: number | null;
  took: number | null;
  gap: number | null;
  text: string;
}

export interface CallsPage {
  rows: CallRow[];
  /** Where to go on; null at the end. */
  next: number | null;
}

export interface MatrixAsk {
  /** Of these groups; null: of all. */
  groups: number[] | null;
  /** Of this kind of traffic; '': of all. */
  kind: string;
  /** Of this communicator; '': of all. */
  communicator: string;
  /** What these ranks send or are sent; '': all. */
  chosen: string;
  messages: boolean;
  /** The square of ranks that is looked at: from `row` and `column` on, `size` of each; size 0: all. */
  row: number;
  column: number;
  size: number;
  /** At most so many cells a side. */
  cells: number;
}

export interface Pair {
  from: number;
  to: number;
  messages: number;
  bytes: number;
}

export interface Matrix {
  ranks: number;
  size: number;
  cells: number;
  /** Ranks of a cell, a side. */
  block: number;
  values: Float64Array;
  /** Of all ranks. */
  sum: number;
  pairs: number;
  /** The largest, within the square. */
  largest: Pair[];
  /** Those there are. */
  kinds: string[];
  communicators: string[];
  collectives: CollectiveUse[];
  /** Messages whose bytes are not known. */
  unsized: number;
  /** Messages and accesses that are left out, since the trace does not say who takes part. */
  nowhere: number;
}

/** All pairs that exchange something, in order, with a row for each communicator and kind of traffic. */
export interface Pairs {
  from: Uint32Array;
  to: Uint32Array;
  /** Numbers of kinds, and of communicators. */
  kind: Uint32Array;
  communicator: Uint32Array;
  messages: Float64Array;
  bytes: Float64Array;
  kinds: readonly string[];
  communicators: readonly string[];
}

/** A trace: its bytes, or where they can be fetched from by ranges. */
export type TraceGiven = Uint8Array<ArrayBuffer> | { address: string; size: number };

export interface Asks {
  open: { ask: Record<string, never>; answer: Opened };
  strip: { ask: StripAsk; answer: Strip };
  calls: { ask: CallsAsk; answer: CallsPage };
  /** Calls by line; null if there are more than were asked for. */
  drawn: { ask: DrawnAsk; answer: DrawnCall[][] | null };
  matrix: { ask: MatrixAsk; answer: Matrix };
  /** The first call that ends at that moment or later; null: there is none. */
  callAt: { ask: { rank: number; ns: number }; answer: number | null };
  pairs: { ask: { groups: number[] | null }; answer: Pairs };
  messages: { ask: MessagesAsked; answer: Messages };
}
export type Method = keyof Asks;
