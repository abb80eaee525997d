import { Chart } from './chart';
import { colourOf, resolved } from './colours';
import type { Context } from './context';
import { lacks, refusal, told, type Phase } from './facts';
import { findingsOf, linkTo } from './findings';
import { bytes, count, percent, plural, shortRanks, time } from './format';
import { go } from './state';
import { Table } from './table';

function Card(props: { value: string; name: string }) {
  return (
    <div class="card">
      <b>{props.value}</b>
      <span>{props.name}</span>
    </div>
  );
}

/** Nested parts of the parallel efficiency (POP), as bars. */
export function Levels(props: { of: Context }) {
  const efficiency = told(props.of.trace.efficiency);
  if (!efficiency || efficiency.parallel === null) return null;
  const levels: [string, number | null, string][] = [
    ['Parallel efficiency', efficiency.parallel, 'time outside MPI, of all the time'],
    ['\u2003Load balance', efficiency.load_balance, 'time outside MPI, of that of the busiest rank'],
    ['\u2003Communication', efficiency.communication, "the busiest rank's time outside MPI"],
    ['\u2003\u2003Serialisation', efficiency.serialisation, 'what is lost where ranks depend on each other'],
    ['\u2003\u2003Transfer', efficiency.transfer, 'what is lost since messages take time'],
  ];
  return (
    <section>
      <h2>Efficiency</h2>
      <div class="levels">
        {levels.map(([name, value, help]) => value !== null && (
          <>
            <span title={help}>{name}</span>
            <span class="track" role="meter" aria-valuenow={Math.round(value * 100)} aria-label={name}>
              <div class="fill" style={{ width: `${Math.min(1, value) * 100}%` }} />
            </span>
            <span>{percent(value)}</span>
          </>
        ))}
      </div>
    </section>
  );
}

export function Overview({ context }: { context: Context }) {
  const { trace } = context;
  const info = told(trace.info);
  const summary = told(trace.summary);
  const phases = told(trace.phases);
  const run = summary?.run_seconds ?? null;
  const mpi = summary?.mpi_seconds ?? null;
  const parts = (summary?.lines ?? []).filter((line) => line.seconds !== null && line.share_of_mpi !== null).slice(0, 9)
    .map((line, i) => ({ name: line.function, seconds: line.seconds!, colour: colourOf(i) }));
  const known = parts.reduce((sum, part) => sum + part.seconds, 0);
  const bars = run ? [
    { name: 'outside MPI', seconds: summary?.outside_seconds ?? 0, colour: 'var(--idle)' },
    ...parts,
    { name: 'other MPI calls', seconds: Math.max(0, (mpi ?? 0) - known), colour: '#999999' },
  ].filter((bar) => bar.seconds > 0) : [];
  const said = lacks(trace);
  const pending = (info?.pending ?? []).map((one) => ({
    ranks: one.ranks,
    where: one.inside ? `in ${one.function} ${one.about ?? ''} at ${one.site}` : `outside MPI, behind ${one.function} at ${one.site}`,
    seconds: one.seconds?.most ?? null,
  }));
  const whole = bars.reduce((sum, bar) => sum + bar.seconds, 0);
  return (
    <>
      {info ? (
        <div class="cards">
          <Card value={count(info.ranks)} name={info.ranks === info.world_size ? 'ranks' : `of ${count(info.world_size)} ranks`} />
          <Card value={count(info.calls)} name={`calls of ${plural(info.functions, 'function')}`} />
          {info.wall_seconds > 0 && <Card value={time(info.wall_seconds)} name="from first to last" />}
          {run !== null && mpi !== null && whole > 0 && <Card value={percent(mpi / whole)} name="of the time in MPI" />}
          <Card value={count(info.classes)} name={info.classes === 1 ? 'class of ranks' : 'classes of ranks'} />
          <Card value={bytes(trace.bytes)} name={`trace, ${count(Number(((trace.bytes * 8) / Math.max(1, info.calls)).toPrecision(2)))} bits a call`} />
        </div>
      ) : <p class="warn">{refusal(trace.info)}</p>}
      <h2>What stands out</h2>
      <ul class="findings">
        {findingsOf(trace).map((finding, i) => (
          <li key={i} class={finding.bad ? 'bad' : ''}>
            {finding.text} {finding.view !== 'overview' && <a href={linkTo(finding.view, finding.change)}>see</a>}
          </li>
        ))}
      </ul>
      {said.length > 0 && (
        <>
          <h2>What these numbers lack</h2>
          <ul class="findings">{said.map((line) => <li key={line} class="bad">{line}</li>)}</ul>
        </>
      )}
      {pending.length > 0 && (
        <>
          <h2>Where ranks were when the recording ended</h2>
          <Table
            name="pending" rows={pending} filter={false}
            columns={[
              { name: 'ranks', left: true, value: (p) => p.ranks, show: (p) => shortRanks(p.ranks) },
              { name: 'where', left: true, value: (p) => p.where },
              { name: 'for', value: (p) => p.seconds, show: (p) => time(p.seconds) },
            ]}
          />
        </>
      )}
      {bars.length > 0 && (
        <>
          <h2>Where the time went, all ranks together</h2>
          <Chart
            name="time" height={30}
            label={`Time by function: ${bars.map((b) => `${b.name} ${percent(b.seconds / whole)}`).join(', ')}`}
            csv={() => [['part', 'seconds'], ...bars.map((b) => [b.name, b.seconds])]}
            draw={(surface, width) => {
              let x = 0;
              for (const bar of bars) {
                const wide = (bar.seconds / whole) * width;
                surface.rect(x, 2, Math.max(0.5, wide - 1), 26, resolved(bar.colour));
                x += wide;
              }
            }}
            tip={(x, _y, width) => {
              let end = 0;
              for (const bar of bars) {
                end += (bar.seconds / whole) * width;
                if (x <= end) return <>{bar.name}: {time(bar.seconds)}, {percent(bar.seconds / whole)}</>;
              }
              return null;
            }}
          />
          <table class="hidden">
            <caption>Where the time went</caption>
            <tbody>{bars.map((bar) => <tr key={bar.name}><th>{bar.name}</th><td>{time(bar.seconds)}</td></tr>)}</tbody>
          </table>
          <div class="legend">
            {bars.map((bar) => (
              <span key={bar.name}>
                <i style={{ background: bar.colour }} />
                {bar.name} {percent(bar.seconds / whole)}
              </span>
            ))}
          </div>
        </>
      )}
      <Levels of={context} />
      {phases && phases.phases.length > 0 && (
        <>
          <h2>What it did when</h2>
          <Table<Phase>
            name="phases" rows={phases.phases} filter={false}
            {...(phases.each_timed ? {
              onPick: (phase) => {
                if (phase.first_begin && phase.last_end)
                  go('timeline', { from: Math.floor(phase.first_begin.seconds * 1e9), to: Math.ceil(phase.last_end.seconds * 1e9) });
              },
            } : {})}
            columns={[
              { name: 'phase', left: true, value: (p) => p.what + (p.turns ? ` of ${p.turns} turns` : '') },
              { name: 'where', left: true, value: (p) => p.place, show: (p) => <>{p.place}{p.note && <span class="faint"> ({p.note})</span>}</> },
              { name: 'begins', value: (p) => p.first_begin?.seconds ?? null, show: (p) => time(p.first_begin?.seconds) },
              { name: 'takes', value: (p) => p.mean_seconds, show: (p) => time(p.mean_seconds) },
              { name: 'in MPI', value: (p) => p.mpi_seconds, show: (p) => time(p.mpi_seconds),
                bar: (p) => (p.mean_seconds && p.mpi_seconds !== null ? p.mpi_seconds / p.mean_seconds : null) },
              { name: 'most in', left: true, value: (p) => p.most_in },
              { name: 'calls', value: (p) => p.calls, show: (p) => count(p.calls) },
              { name: 'bytes', value: (p) => p.bytes, show: (p) => bytes(p.bytes) },
              { name: 'ranks', left: true, value: (p) => p.on.map((on) => on.ranks).join(','), show: (p) => shortRanks(p.on.map((on) => on.ranks).join(',')) },
            ]}
          />
        </>
      )}
      {info && (
        <>
          <h2>The recording</h2>
          <dl class="about">
            <p><b>Command</b> <code>{info.command}</code></p>
            <p><b>Begun</b> {info.start} on {info.hosts.slice(0, 8).join(', ')}{info.hosts.length > 8 && ` and ${count(info.hosts.length - 8)} more`}</p>
            <p><b>MPI</b> {info.mpi}</p>
            <p><b>Times</b> {info.timing}{summary && summary.times_are !== 'exact' && `; ${summary.times_are}`}</p>
            <p><b>Recorder</b> {info.recorder}, page by cairn {context.facts.cairn}, {context.facts.written}</p>
          </dl>
        </>
      )}
    </>
  );
}
