// Ranks: how even they are, which classes of ranks there are, and what sets each apart.
import type { Context } from './context';
import { refusal, told, type Spreads } from './facts';
import { bytes, count, countOfRanks, percent, shortRanks, time } from './format';
import { go, set, useShown } from './state';
import { Table } from './table';

export function RanksView({ context }: { context: Context }) {
  const shown = useShown();
  const ranks = told(context.trace.ranks);
  if (!ranks) return <p class="warn">{refusal(context.trace.ranks)}</p>;
  const spreads: [string, keyof Spreads, (value: number) => string][] = [
    ['calls', 'calls', count], ['bytes given', 'bytes', bytes], ['outside MPI', 'outside_seconds', time], ['in MPI', 'mpi_seconds', time],
  ];
  const classes = ranks.classes.map((one, index) => ({ index, ...one }));
  return (
    <>
      <h2>How even they are</h2>
      <Table
        name="spreads" filter={false}
        rows={spreads.flatMap(([name, key, text]) => {
          const spread = ranks.all[key];
          return spread ? [{ name, text, ...spread }] : [];
        })}
        columns={[
          { name: 'of a rank', left: true, value: (r) => r.name },
          { name: 'mean', value: (r) => r.mean, show: (r) => r.text(r.mean) },
          { name: 'least', value: (r) => r.least, show: (r) => r.text(r.least) },
          { name: 'on', value: (r) => r.least_on },
          { name: 'most', value: (r) => r.most, show: (r) => r.text(r.most) },
          { name: 'on ', value: (r) => r.most_on },
          { name: 'most over mean', value: (r) => r.most_over_mean, show: (r) => r.most_over_mean.toFixed(2) },
          { name: 'imbalance', value: (r) => r.percent_imbalance, show: (r) => percent(r.percent_imbalance / 100),
            help: 'the part of the time that the others could not use' },
        ]}
        onPick={(r) => set({ ranks: String(r.most_on) })}
      />
      <h2>Classes: ranks that make the same calls</h2>
      <Table
        name="classes" rows={classes} further={ranks.further_classes}
        columns={[
          { name: 'class', value: (c) => c.index },
          { name: 'ranks', left: true, value: (c) => c.ranks, show: (c) => shortRanks(c.ranks) },
          { name: 'how many', value: (c) => countOfRanks(c.ranks), show: (c) => count(countOfRanks(c.ranks)) },
          { name: 'calls of each', value: (c) => c.calls.mean, show: (c) => count(c.calls.mean) },
          { name: 'bytes', value: (c) => c.bytes.mean, show: (c) => bytes(c.bytes.mean) },
          { name: 'outside MPI', value: (c) => c.outside_seconds?.mean ?? null, show: (c) => time(c.outside_seconds?.mean) },
          { name: 'in MPI', value: (c) => c.mpi_seconds?.mean ?? null, show: (c) => time(c.mpi_seconds?.mean) },
          { name: 'what sets it apart', left: true, value: (c) => c.differences.join('; '),
            show: (c) => (
              <details>
                <summary>{String(c.differences[0] ?? '')}{c.differences.length > 1 && ` and ${c.differences.length - 1} more`}</summary>
                <ul>{c.differences.slice(1).map((d, i) => <li key={i}>{String(d)}</li>)}</ul>
              </details>
            ) },
        ]}
        onPick={(c) => set({ ranks: c.ranks === shown.ranks ? '' : c.ranks })}
        picked={(c) => c.ranks === shown.ranks}
      />
      <h2>Each rank</h2>
      <Table
        name="ranks" rows={ranks.ranks} further={ranks.ranks_further}
        columns={[
          { name: 'rank', value: (r) => r.rank },
          { name: 'class', value: (r) => r.class },
          { name: 'outside MPI', value: (r) => r.outside_seconds ?? null, show: (r) => time(r.outside_seconds),
            bar: (r) => (r.outside_seconds && ranks.all.outside_seconds ? r.outside_seconds / ranks.all.outside_seconds.most : null) },
          { name: 'in MPI', value: (r) => r.mpi_seconds ?? null, show: (r) => time(r.mpi_seconds),
            bar: (r) => (r.mpi_seconds && ranks.all.mpi_seconds ? r.mpi_seconds / ranks.all.mpi_seconds.most : null) },
          { name: 'calls', value: (r) => r.calls, show: (r) => count(r.calls) },
          { name: 'bytes', value: (r) => r.bytes, show: (r) => bytes(r.bytes) },
          { name: 'host', left: true, value: (r) => r.host ?? '' },
        ]}
        onPick={(r) => set({ ranks: String(r.rank) === shown.ranks ? '' : String(r.rank) })}
        picked={(r) => String(r.rank) === shown.ranks}
      />
      {shown.ranks !== '' && (
        <p>
          <button type="button" onClick={() => go('timeline')}>These ranks on the timeline</button>{' '}
          <button type="button" onClick={() => go('calls')}>Their calls</button>
        </p>
      )}
    </>
  );
}
