// Reader: a trace in memory, asked through reader.wasm or reader-verbs.wasm (reader.h says what each question means and what it costs).
//
//   const reader = await Reader.open(wasm, trace);
//   const page = reader.calls(3, { first: 1000, most: 50 });
//   for (let i = 0; i < page.index.length; ++i) console.log(page.texts[i]);
//
// One trace a Reader. What a question gives is copied out of the module's memory and stays. Numbers of 64 bits are
// JavaScript's, exact up to 2^53; what has a greater one is refused. Everything that fails throws a ReaderError. One of
// kind 'memory' or 'broken' ends the Reader: all later questions throw it again.

/** In what calls spend time, by the number in Groups.sort (src/timeline/strip.h). */
export const SORTS = [
  'outside MPI',
  'messages',
  'completion',
  'collective',
  'one-sided',
  'files',
  'init',
  'other',
] as const;

export const ALL_THREADS = 0xffffffff;
/** The segment of what came after MPI_Finalize. */
export const EPILOGUE = 0xffffffff;

export class ReaderError extends Error {
  constructor(
    message: string,
    /** refused: the trace, or the question; memory: there was not enough; broken: the reader's own fault. */
    readonly kind: 'refused' | 'memory' | 'broken',
    /** The byte of the trace, or ''. */
    readonly where = '',
    readonly hint = '',
  ) {
    super(message);
    this.name = 'ReaderError';
  }
}

export interface Run {
  command: string;
  mpi: string;
  recorder: string;
  status: string;
  begin: string;
  begin_unix_ns: string;
  wall_ns: number;
  world_size: number;
  ranks: string;
  rank_count: number;
  classes: number;
  threads: number;
  calls: number;
  distinct_calls: number;
  functions: number;
  communicators: number;
  timing: string;
  times: 'none' | 'statistics' | 'calls';
  gaps: boolean;
  exactness: string;
  stacks: boolean;
  hosts: string[];
  incomplete: string;
  degraded: { reason: string; ranks: string; count: number; calls_missing: boolean; asked_for: boolean }[];
  failures: { function: string; results: Record<string, number> }[];
  bytes: Record<string, number>;
}

export interface Classes {
  thread: Uint32Array;
  segment: Uint32Array;
  members: Uint32Array;
  /** Where each class's runs end in `runs`. */
  runsEnd: Uint32Array;
  /** First, last and step of each. */
  runs: Uint32Array;
  /** Of the first member, and of all. */
  callsEach: Float64Array;
  calls: Float64Array;
}

export interface Groups {
  function: string[];
  /** "main.c:42 in exchange()", or "". */
  site: string[];
  file: string[];
  /** The function that calls there. */
  within: string[];
  /** The innermost first. */
  callers: string[][];
  line: Uint32Array;
  depth: Uint32Array;
  sort: Uint32Array;
  calls: Float64Array;
}

/** In ns; -1: not known. */
export interface Durations {
  /** Whose times are known. */
  calls: Float64Array;
  total: Float64Array;
  least: Float64Array;
  greatest: Float64Array;
  median: Float64Array;
  p95: Float64Array;
  p99: Float64Array;
  /** The most that percentiles may be off, as a share. */
  error: Float64Array;
}

export interface CallsAsked {
  /** The number of the first call to look at; 0 if left out. */
  first?: number;
  /** Rows at most; 100 if left out. */
  most?: number;
  /** Calls to look at, at most; a million if left out. */
  walked?: number;
  thread?: number;
  /** Only of these groups; all if null or left out. */
  groups?: ArrayLike<number> | null;
  /** Only calls whose text has this in it. */
  text?: string;
}

export interface Calls {
  index: Float64Array;
  thread: Uint32Array;
  group: Uint32Array;
  segment: Uint32Array;
  /** ns on the axis of the run, and how long; -1: not known. */
  begin: Float64Array;
  duration: Float64Array;
  gap: Float64Array;
  /** -1: it moves none; -2: not known. */
  bytes: Float64Array;
  /** As `cairn dump` prints them. */
  text: string[];
  /** The number to go on from; -1 at the end. */
  next: number;
}

/** What is sent, by the number in Matrix.kind (src/traffic/flows.h). */
export const KINDS = ['messages', 'neighbours', 'one-sided', 'collectives'] as const;

/** A collective operation, which is no traffic between two ranks. */
export interface CollectiveUse {
  operation: string;
  communicator: string;
  calls: number;
  ranks: number;
  bytes_a_rank: number;
  bytes: number;
  unsized_calls: number;
}

/** A row for each pair of ranks and kind of traffic. */
export interface Matrix {
  from: Uint32Array;
  to: Uint32Array;
  kind: Uint32Array;
  messages: Float64Array;
  /** Of the messages whose size is known. */
  bytes: Float64Array;
  /** Messages whose size is not known. */
  unsized: Float64Array;
  /** Numbers of `communicators`. */
  communicator: Uint32Array;
  /** Names, of what has most bytes first; where they were not asked for, one that is ''. */
  communicators: string[];
  /** How many MPI_COMM_WORLD has. */
  ranks: number;
  collectives: CollectiveUse[];
  unknown_processes: number;
  expanded_ranks: number;
}

export const AXES = ['measured', 'estimated', 'calls'] as const;
export type By = 'sort' | 'function' | 'site';
const BY: Record<By, number> = { sort: 0, function: 1, site: 2 };

export interface StripAsked {
  by: By;
  /** Pairs of first and last rank, ascending; all if left out. */
  ranks?: [number, number][];
  /** Ranks that share a line: neighbours if left out. */
  fold?: 'neighbours' | 'classes';
  begin: number;
  end: number;
  columns: number;
  lines: number;
  /** Calls to go through at most. */
  mostCalls: number;
}

export interface Strip {
  axis: (typeof AXES)[number];
  endOfRun: number;
  begin: number;
  end: number;
  columns: number;
  /** The window has more calls than were gone through: ask again for more of it. */
  coarse: boolean;
  ranksDone: number;
  ranksWanted: number;
  steps: number;
  kinds: string[];
  /** Of each line, pairs of first and last rank. */
  lines: [number, number][][];
  /** lines × columns × kinds, in ns of a rank in the mean. */
  ns: Float64Array;
}

export interface Drawn {
  index: Float64Array;
  begin: Float64Array;
  end: Float64Array;
  kind: Uint32Array;
  group: Uint32Array;
  depth: Uint32Array;
  more: boolean;
}

export interface MessagesAsked {
  /** Pairs of first and last, of both ends; null: all. */
  ranks: readonly (readonly [number, number])[] | null;
  begin: number;
  end: number;
  most: number;
  /** Calls in front of the window that may have to be gone through. */
  mostBefore: number;
}

/** A row for each message. */
export interface Messages {
  from: Uint32Array;
  to: Uint32Array;
  /** Of the call that sent it, or started to; and the end of the one that completed its receive. */
  begin: Float64Array;
  end: Float64Array;
  /** The numbers of these calls. */
  sentBy: Float64Array;
  receivedBy: Float64Array;
  /** -1: not known. */
  bytes: Float64Array;
  tag: Float64Array;
  more: boolean;
  leftOut: number;
  /** How many calls would have to be gone through in front of the window, where that is too many; else 0. */
  tooFar: number;
}

/** A trace that lies elsewhere, of which parts are read when they are needed. */
export interface Elsewhere {
  size: number;
  /** As many bytes as there are from `offset` on, up to `size`; null: it cannot be read any more. */
  read(offset: number, size: number): Uint8Array | null;
}

/** What the module has to export. */
interface Module {
  memory: WebAssembly.Memory;
  _initialize(): void;
  reader_alloc(bytes: number): number;
  reader_free(block: number): void;
  reader_wanted_memory(): number;
  reader_open(bytes: number, length: number): number;
  reader_open_elsewhere(size: number): number;
  reader_close(): void;
  reader_error(): number;
  reader_run(everything: number): number;
  reader_classes(): number;
  reader_groups(): number;
  reader_durations(): number;
  reader_count(rank: number): number;
  reader_calls(
    rank: number,
    thread: number,
    first: number,
    most: number,
    walked: number,
    groups: number,
    groupCount: number,
    needle: number,
    needleLength: number,
  ): number;
  reader_call_at(rank: number, ns: number): number;
  reader_matrix(groups: number, groupCount: number, byCommunicator: number): number;
  // Only reader-verbs.wasm has these.
  reader_summary?(by: number): number;
  reader_sizes?(by: number, exact: number): number;
  reader_loops?(): number;
  reader_strip(
    by: number,
    ranks: number,
    rankRuns: number,
    fold: number,
    begin: number,
    end: number,
    columns: number,
    lines: number,
    mostCalls: number,
  ): number;
  reader_drawn(by: number, rank: number, thread: number, begin: number, end: number, most: number): number;
  reader_messages(
    ranks: number,
    rankRuns: number,
    begin: number,
    end: number,
    most: number,
    mostBefore: number,
  ): number;
  reader_walk(rank: number, texts: number): number;
}

type Column = string | Uint32Array | Float64Array;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** The pages of 64 KiB that the module begins with; a memory must have them. */
export const LEAST_PAGES = 128;
const MOST_PAGES = 65536;

/** A column that is there for sure: the module and this file are of one build. */
function u32(column: Column | undefined): Uint32Array {
  if (column instanceof Uint32Array) return column;
  throw new ReaderError('the reader and its page do not belong together', 'broken');
}
function f64(column: Column | undefined): Float64Array {
  if (column instanceof Float64Array) return column;
  throw new ReaderError('the reader and its page do not belong together', 'broken');
}
function first(column: Column | undefined): number {
  return f64(column)[0] ?? -1;
}

export class Reader {
  private dead: ReaderError | null = null;
  /** Something that a question needed could not be read. Without it the answer would be as of a damaged trace. */
  private unread = false;

  private constructor(
    private readonly module: Module,
    private readonly memory: WebAssembly.Memory,
  ) {}

  /**
   * Opens a trace, which is in memory or lies elsewhere: `wasm` is reader.wasm, or what was compiled of it; `mostPages` bounds the memory, in pages of 64 KiB.
   */
  static async open(
    wasm: BufferSource | WebAssembly.Module,
    trace: Uint8Array | Elsewhere,
    mostPages: number = MOST_PAGES,
  ): Promise<Reader> {
    const memory = new WebAssembly.Memory({ initial: LEAST_PAGES, maximum: Math.max(LEAST_PAGES, mostPages) });
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    // What the C library may ask of the system: there are no files, and nothing is written.
    const nothing = (): number => 8; // EBADF
    let reader: Reader | null = null;
    const instance = await WebAssembly.instantiate(module, {
      env: {
        memory,
        reader_read: (offset: number, size: number, into: number): number => {
          const bytes = 'read' in trace ? trace.read(offset, size) : null;
          if (bytes === null) {
            if (reader) reader.unread = true;
            return -1;
          }
          new Uint8Array(memory.buffer, into, size).set(bytes.subarray(0, size));
          return Math.min(size, bytes.length);
        },
      },
      wasi_snapshot_preview1: new Proxy({}, { get: () => nothing, has: () => true }),
    });
    reader = new Reader(instance.exports as unknown as Module, memory);
    const { module: own } = reader;
    reader.guarded(() => own._initialize());
    reader.load(trace);
    return reader;
  }

  run(): Run {
    return JSON.parse(this.texts(this.ask((m) => m.reader_run(1)))) as Run;
  }

  /** What of it is there at once, however many ranks there are. */
  outline(): Omit<Run, 'communicators' | 'failures'> {
    return JSON.parse(this.texts(this.ask((m) => m.reader_run(0)))) as Run;
  }

  classes(): Classes {
    const [thread, segment, members, runsEnd, runs, callsEach, calls] = this.ask((m) => m.reader_classes());
    return {
      thread: u32(thread),
      segment: u32(segment),
      members: u32(members),
      runsEnd: u32(runsEnd),
      runs: u32(runs),
      callsEach: f64(callsEach),
      calls: f64(calls),
    };
  }

  groups(): Groups {
    const columns = this.ask((m) => m.reader_groups());
    return {
      function: this.list(columns[0], columns[1]),
      site: this.list(columns[2], columns[3]),
      file: this.list(columns[4], columns[5]),
      within: this.list(columns[6], columns[7]),
      callers: this.list(columns[8], columns[9]).map((stack) => stack.split('\n').filter((line) => line !== '')),
      line: u32(columns[10]),
      depth: u32(columns[11]),
      sort: u32(columns[12]),
      calls: f64(columns[13]),
    };
  }

  durations(): Durations {
    const [calls, total, least, greatest, median, p95, p99, error] = this.ask((m) => m.reader_durations());
    return {
      calls: f64(calls),
      total: f64(total),
      least: f64(least),
      greatest: f64(greatest),
      median: f64(median),
      p95: f64(p95),
      p99: f64(p99),
      error: f64(error),
    };
  }

  /** How many calls a rank made. */
  count(rank: number): number {
    return first(this.ask((m) => m.reader_count(rank))[0]);
  }

  calls(rank: number, asked: CallsAsked = {}): Calls {
    const groups = this.putGroups(asked.groups);
    const needle = asked.text ? encoder.encode(asked.text) : new Uint8Array();
    const at = needle.length === 0 ? 0 : this.put(needle);
    try {
      const columns = this.ask((m) =>
        m.reader_calls(
          rank,
          asked.thread ?? ALL_THREADS,
          asked.first ?? 0,
          asked.most ?? 100,
          asked.walked ?? 1e6,
          groups,
          asked.groups?.length ?? 0,
          at,
          needle.length,
        ),
      );
      return {
        index: f64(columns[0]),
        thread: u32(columns[1]),
        group: u32(columns[2]),
        segment: u32(columns[3]),
        begin: f64(columns[4]),
        duration: f64(columns[5]),
        gap: f64(columns[6]),
        bytes: f64(columns[7]),
        text: this.list(columns[8], columns[9]),
        next: first(columns[10]),
      };
    } finally {
      this.free(groups);
      this.free(at);
    }
  }

  /** The number of the first call that ends at that moment or later; -1: there is none, or there are no times. */
  callAt(rank: number, ns: number): number {
    return first(this.ask((m) => m.reader_call_at(rank, ns))[0]);
  }

  /** Of the calls of these groups; of all if null. */
  matrix(groups: ArrayLike<number> | null = null, byCommunicator = false): Matrix {
    const at = this.putGroups(groups);
    try {
      const columns = this.ask((m) => m.reader_matrix(at, groups?.length ?? 0, byCommunicator ? 1 : 0));
      const rest = JSON.parse(this.texts(columns.slice(7))) as Pick<
        Matrix,
        'ranks' | 'communicators' | 'collectives' | 'unknown_processes' | 'expanded_ranks'
      >;
      return {
        from: u32(columns[0]),
        to: u32(columns[1]),
        kind: u32(columns[2]),
        messages: f64(columns[3]),
        bytes: f64(columns[4]),
        unsized: f64(columns[5]),
        communicator: u32(columns[6]),
        ...rest,
      };
    } finally {
      this.free(at);
    }
  }

  /** What `cairn summary --json` says. */
  summary(by: 'function' | 'site' | 'rank'): unknown {
    return JSON.parse(this.texts(this.ask((m) => m.reader_summary?.(['function', 'site', 'rank'].indexOf(by)))));
  }

  /** What `cairn sizes --json` says. */
  sizes(by: 'op' | 'comm' | 'site', exact = false): unknown {
    return JSON.parse(this.texts(this.ask((m) => m.reader_sizes?.(['op', 'comm', 'site'].indexOf(by), exact ? 1 : 0))));
  }

  /** What `cairn loops --all --json` says. */
  loops(): unknown {
    return JSON.parse(this.texts(this.ask((m) => m.reader_loops?.())));
  }

  /** What ranks did over a window. */
  strip(asked: StripAsked): Strip {
    const ranks = asked.ranks ? this.put(Uint32Array.from(asked.ranks.flat())) : 0;
    try {
      const columns = this.ask((m) =>
        m.reader_strip(
          BY[asked.by],
          ranks,
          asked.ranks?.length ?? 0,
          asked.fold === 'classes' ? 1 : 0,
          asked.begin,
          asked.end,
          asked.columns,
          asked.lines,
          asked.mostCalls,
        ),
      );
      const numbers = f64(columns[0]);
      const ends = u32(columns[3]);
      const runs = u32(columns[4]);
      const lines: [number, number][][] = [];
      let run = 0;
      for (const end of ends) {
        const line: [number, number][] = [];
        for (; run < end; ++run) line.push([runs[2 * run] ?? 0, runs[2 * run + 1] ?? 0]);
        lines.push(line);
      }
      return {
        axis: AXES[numbers[0] ?? 0] ?? 'calls',
        endOfRun: numbers[1] ?? 0,
        begin: numbers[2] ?? 0,
        end: numbers[3] ?? 0,
        columns: numbers[4] ?? 0,
        coarse: numbers[5] === 1,
        ranksDone: numbers[6] ?? 0,
        ranksWanted: numbers[7] ?? 0,
        steps: numbers[8] ?? 0,
        kinds: this.list(columns[1], columns[2]),
        lines,
        ns: f64(columns[5]),
      };
    } finally {
      if (this.dead === null) this.module.reader_free(ranks);
    }
  }

  /** Calls of a thread that have a part in a window. */
  drawn(by: By, rank: number, thread: number, begin: number, end: number, most: number): Drawn {
    const columns = this.ask((m) => m.reader_drawn(BY[by], rank, thread, begin, end, most));
    return {
      index: f64(columns[0]),
      begin: f64(columns[1]),
      end: f64(columns[2]),
      kind: u32(columns[3]),
      group: u32(columns[4]),
      depth: u32(columns[5]),
      more: first(columns[6]) === 1,
    };
  }

  /** Messages that were on their way in a window. */
  messages(asked: MessagesAsked): Messages {
    const ranks = asked.ranks ? this.put(Uint32Array.from(asked.ranks.flat())) : 0;
    try {
      return this.messagesOf(
        this.ask((m) =>
          m.reader_messages(ranks, asked.ranks?.length ?? 0, asked.begin, asked.end, asked.most, asked.mostBefore),
        ),
      );
    } finally {
      if (ranks !== 0 && this.dead === null) this.module.reader_free(ranks);
    }
  }

  private messagesOf(columns: Column[]): Messages {
    const [from, to, begin, end, sentBy, receivedBy, bytes, tag, rest] = columns;
    return {
      from: u32(from),
      to: u32(to),
      begin: f64(begin),
      end: f64(end),
      sentBy: f64(sentBy),
      receivedBy: f64(receivedBy),
      bytes: f64(bytes),
      tag: f64(tag),
      more: first(rest) === 1,
      leftOut: f64(rest)[1] ?? 0,
      tooFar: f64(rest)[2] ?? 0,
    };
  }

  /** Goes through all calls of a rank: how many, and how many bytes of text. For measuring. */
  walk(rank: number, texts: boolean): { calls: number; letters: number } {
    const both = f64(this.ask((m) => m.reader_walk(rank, texts ? 1 : 0))[0]);
    return { calls: both[0] ?? 0, letters: both[1] ?? 0 };
  }

  /** Bytes of memory that the module has, which never become fewer. */
  memoryBytes(): number {
    return this.memory.buffer.byteLength;
  }

  private load(trace: Uint8Array | Elsewhere): void {
    const open = 'read' in trace ? () => this.module.reader_open_elsewhere(trace.size)
      : ((at: number) => () => this.module.reader_open(at, trace.length))(this.put(trace));
    if (this.guarded(open) !== 0) throw this.reason();
  }

  /** Bytes in the module's memory, for `reader_free`. */
  private put(data: Uint8Array | Uint32Array): number {
    const at = this.guarded(() => this.module.reader_alloc(data.byteLength));
    if (at === 0) throw this.end(new ReaderError(`no memory for ${data.byteLength} bytes`, 'memory'));
    new Uint8Array(this.memory.buffer, at, data.byteLength).set(
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    );
    return at;
  }

  private putGroups(groups: ArrayLike<number> | null | undefined): number {
    return groups ? this.put(Uint32Array.from(groups)) : 0;
  }

  private free(block: number): void {
    if (this.dead === null) this.module.reader_free(block);
  }

  private ask(question: (module: Module) => number | undefined): Column[] {
    this.unread = false;
    const at = this.guarded(() => question(this.module));
    if (this.unread) throw new ReaderError('the trace cannot be read any more', 'refused', '', 'is cairn serve still running, and the file as it was?');
    if (at === undefined) throw new ReaderError('this reader does not tell that', 'refused', '', 'use reader-verbs.wasm');
    if (at === 0) throw this.reason();
    return this.columns(at);
  }

  private columns(at: number): Column[] {
    const view = new DataView(this.memory.buffer);
    const all: Column[] = [];
    for (let i = 0, count = view.getUint32(at, true); i < count; ++i) {
      const head = at + 8 + 16 * i;
      const length = view.getUint32(head + 4, true);
      const from = at + view.getUint32(head + 8, true);
      switch (view.getUint32(head, true)) {
        case 1:
          all.push(decoder.decode(new Uint8Array(this.memory.buffer, from, length)));
          break;
        case 3:
          all.push(new Uint32Array(this.memory.buffer, from, length).slice());
          break;
        default:
          all.push(new Float64Array(this.memory.buffer, from, length).slice());
      }
    }
    return all;
  }

  /** Many texts, from where each ends and all of them. */
  private list(ends: Column | undefined, all: Column | undefined): string[] {
    const text = typeof all === 'string' ? all : '';
    const found: string[] = [];
    let from = 0;
    u32(ends).forEach((end) => {
      found.push(text.substring(from, end));
      from = end;
    });
    return found;
  }

  private texts(columns: Column[]): string {
    return typeof columns[0] === 'string' ? columns[0] : '';
  }

  private reason(): ReaderError {
    const columns = this.columns(this.guarded(() => this.module.reader_error()));
    const error = JSON.parse(this.texts(columns)) as { message: string; where: string; hint: string };
    return new ReaderError(error.message, 'refused', error.where, error.hint);
  }

  private end(error: ReaderError): ReaderError {
    this.dead = error;
    return error;
  }

  /** Runs what is in the module. A trap ends the Reader. */
  private guarded<T>(run: () => T): T {
    if (this.dead !== null) throw this.dead;
    try {
      return run();
    } catch (error) {
      const wanted = this.module.reader_wanted_memory() >>> 0;
      if (wanted !== 0) {
        throw this.end(
          new ReaderError(
            `out of memory: ${wanted} bytes more than the ${this.memory.buffer.byteLength} there are`,
            'memory',
            '',
            'ask cairn on the command line',
          ),
        );
      }
      const what = error instanceof Error ? error.message : String(error);
      throw this.end(new ReaderError(`the reader broke down: ${what}`, 'broken'));
    }
  }
}
