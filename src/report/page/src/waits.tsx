// Waits: who waited for whom and why, what the end of the run waited for, and the efficiencies that come of it.
import { Chart } from './chart';
import { colourOf } from './colours';
import type { Context } from './context';
import { refusal, told, type Activity, type Place } from './facts';
import { count, percent, time } from './format';
import { Levels } from './overview';
import { go, set } from './state';
import { Table } from './table';

const placeText = (place: Place | null): string => (place ? `${place.function}  ${place.site}` : '');
const kDoings: Record<string, string> = { outside: 'outside MPI before', inside: 'in', other_calls: 'in calls that waited for nobody, before' };
const doing = (activity: Activity): string =>
  `${kDoings[activity.doing] ?? activity.doing} ${placeText(activity.place)}`;

const kRow = 16;
const kMostRows = 64;

export function WaitsView({ context }: { context: Context }) {
  const waits = told(context.trace.waits);
  const path = told(context.trace.path);
  if (!waits) return <p class="warn">{refusal(context.trace.waits)}</p>;
  const rows = [...waits.ranks].sort((a, b) => b.waited_seconds - a.waited_seconds).slice(0, kMostRows).sort((a, b) => a.rank - b.rank);
  const most = Math.max(1e-12, ...rows.map((r) => r.seconds));
  return (
    <>
      <div class="two">
        <section>
          <h2>Kinds of waiting</h2>
          <Table
            name="wait-kinds" rows={waits.kinds} filter={false} sort={1}
            columns={[
              { name: 'kind', left: true, value: (k) => k.kind },
              { name: 'waited', value: (k) => k.seconds, show: (k) => time(k.seconds) },
              { name: '% of the run', value: (k) => k.share_of_run, show: (k) => percent(k.share_of_run), bar: (k) => k.share_of_run },
              { name: 'times', value: (k) => k.count, show: (k) => count(k.count) },
            ]}
          />
        </section>
        <Levels of={context} />
      </div>
      <h2>Where, and for whom</h2>
      <Table
        name="waits" rows={waits.lines} sort={0}
        columns={[
          { name: 'waited', value: (l) => l.seconds, show: (l) => time(l.seconds) },
          { name: '% of the run', value: (l) => l.share_of_run, show: (l) => percent(l.share_of_run), bar: (l) => l.share_of_run },
          { name: 'times', value: (l) => l.count, show: (l) => count(l.count) },
          { name: 'longest', value: (l) => l.longest_seconds, show: (l) => time(l.longest_seconds) },
          { name: 'on rank', value: (l) => l.longest_rank },
          { name: 'kind', left: true, value: (l) => l.kind },
          { name: 'in', left: true, value: (l) => placeText(l.in) },
          { name: 'for', left: true, value: (l) => placeText(l.for) },
        ]}
        onPick={(l) => go('calls', { ranks: String(l.longest_rank), at: l.longest_call, fn: '', site: '' })}
      />
      <h2>What those did meanwhile that were waited for</h2>
      <Table
        name="causes" rows={waits.causes} sort={0}
        columns={[
          { name: 'waited', value: (c) => c.seconds, show: (c) => time(c.seconds) },
          { name: '% of the waits', value: (c) => c.share_of_waits, show: (c) => percent(c.share_of_waits), bar: (c) => c.share_of_waits },
          { name: 'ranks', value: (c) => c.ranks },
          { name: 'most by', value: (c) => c.rank },
          { name: 'while they were', left: true, value: (c) => doing(c.activity) },
        ]}
        onPick={(c) => set({ ranks: String(c.rank) })}
      />
      <h2>By rank</h2>
      <Chart
        name="waits-by-rank" height={rows.length * kRow + 26}
        label={`Time of ranks: outside MPI, waiting, other MPI. ${rows.slice(0, 10).map((r) => `rank ${r.rank} waited ${time(r.waited_seconds)}`).join(', ')}`}
        csv={() => [['rank', 'outside', 'waited', 'mpi', 'blamed', 'path'],
          ...waits.ranks.map((r) => [r.rank, r.outside_seconds, r.waited_seconds, r.mpi_seconds, r.blamed_seconds, r.path_seconds])]}
        draw={(surface, width, _h, ink) => {
          const left = 70;
          const scale = (width - left - 10) / most;
          rows.forEach((row, i) => {
            const y = i * kRow;
            surface.text(left - 8, y + kRow / 2, String(row.rank), ink.text, 'end');
            let x = left;
            for (const [seconds, colour] of [[row.outside_seconds, ink.idle], [row.mpi_seconds - row.waited_seconds, colourOf(0)], [row.waited_seconds, colourOf(1)]] as const) {
              const wide = Math.max(0, seconds * scale);
              surface.rect(x, y + 1, wide, kRow - 3, colour);
              x += wide;
            }
          });
          const y = rows.length * kRow + 14;
          let x = left;
          for (const [name, colour] of [['outside MPI', ink.idle], ['in MPI', colourOf(0)], ['waiting in MPI', colourOf(1)]] as const) {
            surface.rect(x, y - 6, 12, 12, colour);
            surface.text(x + 18, y, name, ink.text);
            x += 130;
          }
        }}
        tip={(_x, y) => {
          const row = rows[Math.floor(y / kRow)];
          if (!row) return null;
          return (
            <>
              rank {row.rank}: waited {time(row.waited_seconds)} ({percent(row.waited_share)} of the run), others waited{' '}
              {time(row.blamed_seconds)} for it
            </>
          );
        }}
        handlers={{ onClick: (event) => {
          const row = rows[Math.floor(event.offsetY / kRow)];
          if (row) set({ ranks: String(row.rank) });
        } }}
      />
      {waits.ranks.length > kMostRows && <p class="faint">The {kMostRows} that waited longest.</p>}
      <h2>The critical path: what the end of the run waited for</h2>
      {path ? (
        <>
          <p>{time(path.path_seconds)} from the begin to the end on rank {path.ends_on_rank}.</p>
          <Table
            name="path" rows={path.activities} sort={0}
            columns={[
              { name: 'time', value: (a) => a.seconds, show: (a) => time(a.seconds) },
              { name: '% of the path', value: (a) => a.share_of_path, show: (a) => percent(a.share_of_path), bar: (a) => a.share_of_path },
              { name: 'mean of ranks', value: (a) => a.mean_seconds, show: (a) => time(a.mean_seconds) },
              { name: 'above it', value: (a) => a.excess_seconds, show: (a) => time(a.excess_seconds),
                help: 'what the run would have been shorter by if this were as on the mean rank' },
              { name: 'most on', value: (a) => a.rank },
              { name: 'what', left: true, value: (a) => doing(a.activity) },
            ]}
            onPick={(a) => set({ ranks: String(a.rank) })}
          />
        </>
      ) : <p class="warn">{refusal(context.trace.path)}</p>}
    </>
  );
}
