// The worker's side: answers what client.ts asks, with the reader and the trace that it was given first.
import { matrixOf } from './matrix_sums';
import type { Asks, CallRow, ClassInfo, Group, Method, Opened, Pairs } from './protocol';
import { EPILOGUE, Reader, SORTS, type Classes } from './reader';

interface Given {
  reader: Uint8Array<ArrayBuffer>;
  trace: Uint8Array<ArrayBuffer>;
}
interface Asked {
  id: number;
  method: Method;
  ask: never;
}

const known = (value: number): number | null => (value < 0 ? null : value / 1e9);

/** "0-3,8,12-20": ranks of runs of first, last and step. */
function ranksOfRuns(runs: Uint32Array): string {
  const parts: string[] = [];
  for (let i = 0; i + 2 < runs.length; i += 3) {
    const [first, last, step] = [runs[i]!, runs[i + 1]!, runs[i + 2]!];
    if (first === last) parts.push(`${first}`);
    else if (step === 1) parts.push(`${first}-${last}`);
    else for (let rank = first; rank <= last; rank += step) parts.push(`${rank}`);
  }
  return parts.join(',');
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
  private size = 0;
  constructor(private readonly reader: Reader) {}

  open(): Opened {
    const run = this.reader.run();
    this.size = run.world_size;
    const groups = this.reader.groups();
    return {
      ranks: run.ranks,
      classes: classesOf(this.reader.classes()),
      groups: groups.function.map((fn, i): Group => ({
        fn,
        site: groups.site[i]!,
        file: groups.file[i]!,
        line: groups.line[i]!,
        sort: SORTS[groups.sort[i]!] ?? 'other',
        calls: groups.calls[i]!,
      })),
      timing: run.timing,
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

  callAt(ask: Asks['callAt']['ask']): number {
    return this.reader.callAt(ask.rank, ask.ns);
  }

  walk(ask: Asks['walk']['ask']): Asks['walk']['answer'] {
    const begin = performance.now();
    const { calls } = this.reader.walk(ask.rank, ask.texts);
    return { calls, seconds: (performance.now() - begin) / 1e3 };
  }

  strip(_ask: Asks['strip']['ask']): Asks['strip']['answer'] {
    throw new Error('not yet');
  }
  matrix(ask: Asks['matrix']['ask']): Asks['matrix']['answer'] {
    return matrixOf(this.pairs(ask), this.size, ask);
  }

  /** Of the groups that were asked for last. */
  pairs(ask: { groups: number[] | null }): Pairs {
    const key = JSON.stringify(ask.groups);
    if (this.kept?.key !== key) this.kept = { key, pairs: this.pairsOf(ask.groups) };
    return this.kept.pairs;
  }
  private kept: { key: string; pairs: Pairs } | null = null;

  private pairsOf(_groups: number[] | null): Pairs {
    throw new Error('not yet');
  }
}

export function work(): void {
  let begun: Promise<Service> | null = null;
  onmessage = (event: MessageEvent<Given | Asked>) => {
    const message = event.data;
    if (!('id' in message)) {
      begun = Reader.open(message.reader, message.trace).then((reader) => new Service(reader));
      begun.catch(() => {});
      return;
    }
    begun!.then((service) => service[message.method](message.ask)).then(
      (answer) => postMessage({ id: message.id, answer }),
      (error: Error & { where?: string; hint?: string }) =>
        postMessage({ id: message.id, error: [error.message, error.where, error.hint].filter((part) => part).join('; ') }));
  };
}
