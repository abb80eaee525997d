// Two traces side by side: what the second did otherwise, and both timelines.
import { useEffect, useState } from 'preact/hooks';
import { Client } from './client';
import type { Context } from './context';
import { refusal, told } from './facts';
import { bytes, count, countOfRanks, percent, plural, shortRanks, time } from './format';
import { siteText } from './sites';
import { Table } from './table';
import { Timeline } from './timeline';

interface OfFunction {
  calls: number;
  bytes: number | null;
  seconds: number | null;
}

/** A call of one of both, as JSON has it. */
interface OneCall {
  function: string;
  args?: Record<string, unknown>;
  return?: unknown;
  site?: unknown;
}

interface OneDifference {
  in: string;
  calls: number;
  ranks: string;
  thread: number;
  call: number;
  arguments: string[];
  first: OneCall | null;
  second: OneCall | null;
}

interface OfRun {
  ranks: number;
}

interface Difference {
  equal?: boolean;
  mpi?: {
    equal: boolean;
    ranks_with_other_order?: number;
    calls_with_other_arguments?: number;
    calls_with_other_results?: number;
    only_first?: string;
    only_second?: string;
    differences?: OneDifference[];
    functions?: { function: string; first: OfFunction | null; second: OfFunction | null }[];
  };
  /** Of runs on different numbers of ranks: what a rank does on average. */
  sizes?: { equal: boolean; first: OfRun; second: OfRun };
}

/** What `cairn diff` says, in a few words. */
function verdict(diff: Difference): string {
  if (diff.sizes) {
    return `Runs on ${plural(diff.sizes.first.ranks, 'rank')} and on ${count(diff.sizes.second.ranks)}: on average a rank ` +
      (diff.sizes.equal ? 'does the same at each call site of both.' : 'does otherwise at some call sites.');
  }
  return diff.equal || diff.mpi?.equal ? 'The same calls in the same order, with the same arguments and results.' : 'They differ.';
}

/** One call; of what differs in arguments, these. */
function Call({ name, call, of }: { name: string; call: OneCall | null; of: string[] }) {
  if (!call) return <div class="mono">{name}: no such call</div>;
  const value = (argument: string) => {
    const found = argument === 'return' ? call.return : call.args?.[argument];
    return `${argument}=${typeof found === 'string' ? found : JSON.stringify(found)}`;
  };
  return <div class="mono">{name}: {call.function}({of.map(value).join(', ')}) {siteText(call)}</div>;
}

function OneOf({ one }: { one: OneDifference }) {
  return (
    <li>
      {plural(one.calls, 'call')} of {countOfRanks(one.ranks) === 1 ? 'rank' : 'ranks'} {shortRanks(one.ranks)}
      {one.in === 'order' ? ' in another order' : ` with other ${one.in}`}; the first is call {count(one.call)}
      {one.thread > 0 && ` of thread ${one.thread}`}
      <Call name="A" call={one.first} of={one.arguments} />
      <Call name="B" call={one.second} of={one.arguments} />
    </li>
  );
}

export function DiffView({ context }: { context: Context }) {
  const [second, setSecond] = useState<Client | null>(null);
  const [trouble, setTrouble] = useState('');
  useEffect(() => {
    Client.open(1).then(setSecond, (error: Error) => setTrouble(error.message));
  }, []);
  const [a, b] = context.facts.traces;
  const diff = told((context.facts.diff ?? undefined) as Difference | undefined);
  if (!a || !b) return <p>This page carries one trace.</p>;
  const functions = diff?.mpi?.functions ?? [];
  const change = (x: number | null | undefined, y: number | null | undefined) =>
    x && y !== null && y !== undefined ? `${y >= x ? '+' : '−'}${percent(Math.abs(y - x) / x)}` : '';
  return (
    <>
      <p><b>A</b> {a.file}, <b>B</b> {b.file}. All other views show A.</p>
      {!diff ? <p class="warn">{refusal(context.facts.diff ?? undefined)}</p> : (
        <>
          <p>
            {verdict(diff)}
            {diff.mpi?.only_first && ` Ranks of A alone: ${shortRanks(diff.mpi.only_first)}.`}
            {diff.mpi?.only_second && ` Ranks of B alone: ${shortRanks(diff.mpi.only_second)}.`}
            {diff.mpi && !diff.mpi.equal && (
              <> {diff.sizes ? 'Rank by rank, as far as both have them: ranks' : 'Ranks'} with another order of calls: {count(diff.mpi.ranks_with_other_order ?? 0)}; calls with other arguments:{' '}
                {count(diff.mpi.calls_with_other_arguments ?? 0)}, with other results: {count(diff.mpi.calls_with_other_results ?? 0)}.</>
            )}
          </p>
          <ul>{(diff.mpi?.differences ?? []).slice(0, 20).map((one, i) => <OneOf key={i} one={one} />)}</ul>
          <h2>Functions</h2>
          <Table
            name="diff" rows={functions}
            columns={[
              { name: 'function', left: true, value: (f) => f.function },
              { name: 'calls A', value: (f) => f.first?.calls ?? 0, show: (f) => count(f.first?.calls ?? 0) },
              { name: 'calls B', value: (f) => f.second?.calls ?? 0, show: (f) => count(f.second?.calls ?? 0) },
              { name: 'bytes A', value: (f) => f.first?.bytes ?? 0, show: (f) => bytes(f.first?.bytes) },
              { name: 'bytes B', value: (f) => f.second?.bytes ?? 0, show: (f) => bytes(f.second?.bytes) },
              { name: 'time A', value: (f) => f.first?.seconds ?? null, show: (f) => time(f.first?.seconds) },
              { name: 'time B', value: (f) => f.second?.seconds ?? null, show: (f) => time(f.second?.seconds) },
              { name: 'change', value: (f) => (f.second?.seconds ?? 0) - (f.first?.seconds ?? 0), show: (f) => change(f.first?.seconds, f.second?.seconds) },
            ]}
          />
        </>
      )}
      <h2>A</h2>
      <Timeline context={context} bare />
      <h2>B</h2>
      {second ? <Timeline context={{ ...context, trace: b, client: second }} bare /> : <p class="busy">{trouble || 'The second trace is being opened …'}</p>}
    </>
  );
}
