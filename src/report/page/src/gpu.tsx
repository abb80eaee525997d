// GPU: which kernels ran how long, each launch, and how well warps used their lanes, multiprocessors and memory.
import type { Context } from './context';
import { refusal, told, type Access, type KernelUse } from './facts';
import { count, percent, plural, time } from './format';
import { go } from './state';
import { Table } from './table';

interface Point {
  kind: string;
  function: string;
  file: string;
  line: number;
  visits: number;
  mean_lanes: number;
  /** The part of the warp's lanes that were there. */
  efficiency: number;
  /** Lanes that were not there, all visits together. */
  lost_lanes: number;
}

const kTimes = { ran_ns: 'ran', mean_ns: 'mean', longest_ns: 'longest', mean_queued_ns: 'queued for, mean' };
const cycles = (value: number | null): string => (value === null ? '' : count(value));
const moved = (access: Access): string =>
  access.sectors !== undefined ? plural(access.sectors, 'sector') : access.wavefronts !== undefined ? plural(access.wavefronts, 'wavefront') : '';
const seconds = (ns: number | null): number | null => (ns === null ? null : ns / 1e9);

export function GpuView({ context }: { context: Context }) {
  const summary = told(context.trace.summary);
  const kernels = summary?.kernels ?? [];
  const launches = told(context.trace.launches);
  const points = (told(context.trace.gpu)?.['points'] ?? []) as Point[];
  const further = told(context.trace.gpu)?.['points_further'];
  const blocks = told(context.trace.blocks);
  const accesses = told(context.trace.accesses);
  return (
    <>
      {kernels.length > 0 && (
        <>
          <h2>Kernels</h2>
          <Table
            name="kernels" rows={kernels} further={summary?.kernels_further}
            columns={[
              { name: 'kernel', left: true, value: (k) => k.kernel },
              { name: 'launches', value: (k) => k.launches, show: (k) => count(k.launches) },
              ...(['ran_ns', 'mean_ns', 'longest_ns', 'mean_queued_ns'] as const).map((field) => ({
                name: kTimes[field], value: (k: KernelUse) => seconds(k[field]), show: (k: KernelUse) => time(seconds(k[field])),
              })),
            ]}
          />
        </>
      )}
      {launches ? (
        <>
          <h2>Launches</h2>
          <Table
            name="launches" rows={launches.launches} further={launches.launches_further}
            columns={[
              { name: 'launch', value: (l) => l.launch },
              { name: 'rank', value: (l) => l.rank },
              { name: 'kernel', left: true, value: (l) => l.kernel },
              { name: 'grid', value: (l) => l.grid },
              { name: 'block', value: (l) => l.block },
              { name: 'stream', value: (l) => `gpu${l.device}/${l.stream}` },
              { name: 'after call', value: (l) => l.calls_before },
              { name: 'began', value: (l) => seconds(l.begin_ns), show: (l) => time(seconds(l.begin_ns)) },
              { name: 'queued for', value: (l) => seconds(l.queued_ns), show: (l) => time(seconds(l.queued_ns)) },
              { name: 'ran', value: (l) => seconds(l.duration_ns), show: (l) => time(seconds(l.duration_ns)) },
            ]}
            onPick={(l) => go('calls', { ranks: String(l.rank), at: l.calls_before, fn: '', site: '' })}
          />
        </>
      ) : <p class="faint">{refusal(context.trace.launches)}</p>}
      {points.length > 0 && (
        <>
          <h2>Where lanes were missing</h2>
          <Table
            name="divergence" rows={[...points].sort((a, b) => b.lost_lanes - a.lost_lanes)} further={typeof further === 'number' ? further : undefined}
            columns={[
              { name: 'where', left: true, value: (p) => `${p.file}:${p.line}` },
              { name: 'function', left: true, value: (p) => p.function },
              { name: 'point', left: true, value: (p) => p.kind },
              { name: 'visits', value: (p) => p.visits, show: (p) => count(p.visits) },
              { name: 'lanes, mean', value: (p) => p.mean_lanes, show: (p) => p.mean_lanes.toFixed(1) },
              { name: 'efficiency', value: (p) => p.efficiency, show: (p) => percent(p.efficiency) },
              { name: 'lanes missing', value: (p) => p.lost_lanes, show: (p) => count(p.lost_lanes), help: 'all visits together: what a rewrite could win' },
            ]}
          />
        </>
      )}
      {blocks !== null && blocks.kernels.length > 0 && (
        <>
          <h2>Blocks over multiprocessors</h2>
          <Table
            name="blocks" rows={blocks.kernels} further={blocks.kernels_further}
            columns={[
              { name: 'kernel', left: true, value: (k) => k.kernel },
              { name: 'launches', value: (k) => k.launches, show: (k) => count(k.launches) },
              { name: 'blocks', value: (k) => k.blocks, show: (k) => count(k.blocks) },
              {
                name: 'multiprocessors', value: (k) => k.multiprocessors.used / k.launches,
                show: (k) => `${count(k.multiprocessors.used / k.launches)} of ${count(k.multiprocessors.available / k.launches)}`,
                help: 'of a launch, in the mean',
              },
              { name: 'cycles', value: (k) => k.mean_cycles, show: (k) => count(k.mean_cycles), help: 'of a launch, in the mean' },
              { name: 'of a block', value: (k) => k.mean_block_cycles, show: (k) => cycles(k.mean_block_cycles) },
              { name: 'least', value: (k) => k.shortest_block_cycles, show: (k) => cycles(k.shortest_block_cycles) },
              { name: 'most', value: (k) => k.longest_block_cycles, show: (k) => count(k.longest_block_cycles) },
              { name: 'busy', value: (k) => k.busy, show: (k) => percent(k.busy), help: 'of all cycles of all multiprocessors, those with a block' },
              { name: 'balance', value: (k) => k.balance, show: (k) => percent(k.balance), help: 'busy cycles, in the mean, of those of the busiest' },
              { name: 'idle at end', value: (k) => k.idle_at_end, show: (k) => percent(k.idle_at_end) },
            ]}
          />
        </>
      )}
      {accesses !== null && accesses.accesses.length > 0 && (
        <>
          <h2>Accesses to memory</h2>
          <Table
            name="accesses" rows={accesses.accesses} further={accesses.accesses_further}
            columns={[
              { name: 'where', left: true, value: (a) => (a.file === undefined ? null : `${a.file}:${a.line}`) },
              { name: 'kernel', left: true, value: (a) => a.kernel },
              { name: 'memory', left: true, value: (a) => a.memory },
              { name: 'requests', value: (a) => a.requests, show: (a) => count(a.requests), help: 'of warps' },
              { name: 'bytes', value: (a) => a.bytes, show: (a) => count(a.bytes), help: 'that lanes touched' },
              { name: 'moved in', value: (a) => a.sectors ?? a.wavefronts ?? null, show: (a) => moved(a), help: 'sectors of 32 bytes, or wavefronts of shared memory' },
              { name: 'efficiency', value: (a) => a.efficiency ?? null, show: (a) => percent(a.efficiency), help: 'if the same bytes lay next to each other: the part of these that it would take' },
            ]}
          />
        </>
      )}
    </>
  );
}
