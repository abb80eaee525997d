// The worker's side: answers what client.ts asks, with the reader and the trace that it was given first.
import { rangesOf, rangesText } from './format';
import { kindsOf, matrixOf, onlyOf, type Traffic } from './matrix_sums';
import type { Asks, CallRow, ClassInfo, DrawnCall, Group, Method, Opened, TraceGiven } from './protocol';
import { EPILOGUE, KINDS, Reader, SORTS, type Classes, type Elsewhere } from './reader';

interface Given {
  reader: Uint8Array<ArrayBuffer>;
  trace: TraceGiven;
}
interface Asked {
  id: number;
  method: Method;
  ask: never;
}

/** Read by ranges while the reader waits, which a worker may. */
function fetched(address: string, size: number): Elsewhere {
  return {
    size,
    read(offset, length) {
      if (length === 0) return new Uint8Array();
      const request = new XMLHttpRequest();
      request.open('GET', address, false);
      request.responseType = 'arraybuffer';
      request.setRequestHeader('Range', `bytes=${offset}-${offset + length - 1}`);
      try {
        request.send();
      } catch {
        return null;
      }
      return request.status === 206 ? new Uint8Array(request.response as ArrayBuffer) : null;
    },
  };
}

const known = (value: number): number | null => (value < 0 ? null : value / 1e9);

/** "0-3,8,12-20": ranks of runs of first, last and step. */
function ranksOfRuns(runs: Uint32Array): string {
  const ranges: [number, number][] = [];
  for (let i = 0; i + 2 < runs.length; i += 3) {
    const [first, last, step] = [runs[i]!, runs[i + 1]!, runs[i + 2]!];
    if (step === 1) ranges.push([first, last]);
    else for (let rank = first; rank <= last; rank += step) ranges.push([rank, rank]);
  }
  return rangesText(ranges);
}

function classesOf(classes: Classes): ClassInfo[] {
  return Array.from(classes.thread, (thread, i) => ({
    ranks: ranksOfRuns(classes.runs.subarray(3 * (i === 0 ? 0 : classes.runsEnd[i - 1]!), 3 * classes.runsEnd[i]!)),
    thread,
    segment: classes.segment[i]!,
    calls: classes.callsEach[i]!,
  }));
}

class Service {
  /** Of ranks that have several. */
  private readonly threads = new Map<number, number[]>();
  constructor(private readonly reader: Reader) {}

  open(): Opened {
    const run = this.reader.outline();
    const groups = this.reader.groups();
    const classes = classesOf(this.reader.classes());
    for (const one of classes) {
      if (one.thread === 0) continue;
      for (const [first, last] of rangesOf(one.ranks)) {
        for (let rank = first; rank <= last; ++rank) {
          const known = this.threads.get(rank) ?? [0];
          if (!known.includes(one.thread)) known.push(one.thread);
          this.threads.set(rank, known);
        }
      }
    }
    return {
      ranks: run.ranks,
      classes,
      groups: groups.function.map((fn, i): Group => ({
        fn,
        site: groups.site[i]!,
        file: groups.file[i]!,
        line: groups.line[i]!,
        sort: SORTS[groups.sort[i]!] ?? 'other',
        calls: groups.calls[i]!,
      })),
      calls: run.calls,
      timed: run.times === 'calls',
    };
  }

  calls(ask: Asks['calls']['ask']): Asks['calls']['answer'] {
    const found = this.reader.calls(ask.rank, {
      first: ask.from,
      most: ask.most,
      walked: ask.walk,
      groups: ask.groups,
      text: ask.text,
      ...(ask.thread === null ? {} : { thread: ask.thread }),
    });
    return {
      rows: found.text.map((text, i): CallRow => ({
        index: found.index[i]!,
        thread: found.thread[i]!,
        epilogue: found.segment[i] === EPILOGUE,
        group: found.group[i]!,
        begin: known(found.begin[i]!),
        took: known(found.duration[i]!),
        gap: known(found.gap[i]!),
        text,
      })),
      next: found.next < 0 ? null : found.next,
    };
  }

  callAt(ask: Asks['callAt']['ask']): Asks['callAt']['answer'] {
    const found = this.reader.callAt(ask.rank, ask.ns);
    return found < 0 ? null : found;
  }

  strip(ask: Asks['strip']['ask']): Asks['strip']['answer'] {
    const strip = this.reader.strip({
      by: ask.by,
      ...(ask.ranks === '' ? {} : { ranks: rangesOf(ask.ranks) }),
      fold: ask.fold,
      begin: ask.from ?? 0,
      end: ask.to ?? Number.MAX_VALUE,
      columns: ask.columns,
      lines: ask.lines,
      mostCalls: ask.mostCalls,
    });
    return {
      axis: strip.axis,
      whole: [0, strip.endOfRun],
      begin: strip.begin,
      end: strip.end,
      columns: strip.columns,
      kinds: strip.kinds,
      lines: strip.lines.map((runs) => ({
        ranks: rangesText(runs),
        count: runs.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      })),
      ns: strip.ns,
      coarse: strip.coarse,
      steps: strip.steps,
      done: strip.coarse ? strip.ranksDone / strip.ranksWanted : 1,
    };
  }

  drawn(ask: Asks['drawn']['ask']): Asks['drawn']['answer'] {
    const lines: DrawnCall[][] = [];
    let left = ask.most;
    for (const rank of ask.ranks) {
      const calls: DrawnCall[] = [];
      for (const thread of this.threads.get(rank) ?? [0]) {
        const found = this.reader.drawn(ask.by, rank, thread, ask.from, ask.to, left);
        if (found.more) return null;
        left -= found.index.length;
        found.index.forEach((index, i) => calls.push({
          index,
          begin: found.begin[i]!,
          end: found.end[i]!,
          kind: found.kind[i]!,
          group: found.group[i]!,
          depth: found.depth[i]!,
        }));
      }
      lines.push(calls);
    }
    return lines;
  }

  matrix(ask: Asks['matrix']['ask']): Asks['matrix']['answer'] {
    const key = JSON.stringify([ask.groups, ask.kind, ask.communicator, ask.chosen]);
    if (this.kept?.key !== key) {
      const all = this.traffic(ask.groups);
      this.kept = { key, kinds: kindsOf(all), traffic: onlyOf(all, ask.kind, ask.communicator, ask.chosen) };
    }
    return matrixOf(this.kept.traffic, this.kept.kinds, ask);
  }
  private kept: { key: string; kinds: string[]; traffic: Traffic } | null = null;

  pairs(ask: Asks['pairs']['ask']): Asks['pairs']['answer'] {
    const { from, to, kind, communicator, communicators, messages, bytes } = this.traffic(ask.groups);
    return { from, to, kind, communicator, messages, bytes, kinds: KINDS, communicators };
  }

  messages(ask: Asks['messages']['ask']): Asks['messages']['answer'] {
    return this.reader.messages(ask);
  }

  /** Of the groups that were asked for last. */
  private traffic(groups: number[] | null): Traffic {
    const key = JSON.stringify(groups);
    if (this.all?.key !== key) this.all = { key, traffic: this.reader.matrix(groups, true) };
    return this.all.traffic;
  }
  private all: { key: string; traffic: Traffic } | null = null;
}

export function work(): void {
  let begun: Promise<Service> | null = null;
  onmessage = (event: MessageEvent<Given | Asked>) => {
    const message = event.data;
    if (!('id' in message)) {
      const { trace } = message;
      begun = Reader.open(message.reader, 'address' in trace ? fetched(trace.address, trace.size) : trace).then((reader) => new Service(reader));
      begun.catch(() => {});
      return;
    }
    begun!.then((service) => service[message.method](message.ask)).then(
      // Columns of numbers go as they are, without a copy.
      (answer) => postMessage({ id: message.id, answer }, { transfer: message.method === 'strip' ? [(answer as Asks['strip']['answer']).ns.buffer] : [] }),
      (error: Error & { where?: string; hint?: string }) =>
        postMessage({ id: message.id, error: [error.message, error.where, error.hint].filter((part) => part).join('; ') }));
  };
}
