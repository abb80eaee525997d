// Two traces side by side: what the second did otherwise, and both timelines.
import { useEffect, useState } from 'preact/hooks';
import { Client } from './client';
import type { Context } from './context';
import { refusal, told } from './facts';
import { bytes, count, percent, time } from './format';
import { Table } from './table';
import { Timeline } from './timeline';

interface OfFunction {
  calls: number;
  bytes: number | null;
  seconds: number | null;
}

interface Difference {
  equal?: boolean;
  mpi?: {
    equal: boolean;
    ranks_with_other_order?: number;
    calls_with_other_arguments?: number;
    calls_with_other_results?: number;
    differences?: unknown[];
    functions?: { function: string; first: OfFunction | null; second: OfFunction | null }[];
  };
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
      <p><b>A</b> {a.file}, <b>B</b> {b.file}</p>
      {!diff ? <p class="warn">{refusal(context.facts.diff ?? undefined)}</p> : (
        <>
          <p>
            {diff.equal || diff.mpi?.equal ? 'The same calls in the same order, with the same arguments and results.' : 'They differ.'}
            {diff.mpi && !diff.mpi.equal && (
              <> Ranks with another order of calls: {count(diff.mpi.ranks_with_other_order ?? 0)}; calls with other arguments:{' '}
                {count(diff.mpi.calls_with_other_arguments ?? 0)}, with other results: {count(diff.mpi.calls_with_other_results ?? 0)}.</>
            )}
          </p>
          {(diff.mpi?.differences ?? []).slice(0, 20).map((one, i) => <p key={i} class="mono">{typeof one === 'string' ? one : JSON.stringify(one)}</p>)}
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
