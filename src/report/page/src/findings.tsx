// Findings: what stands out in a run, in plain words, each with a way to where it shows. All from what the verbs said.
import type { ComponentChildren } from 'preact';
import { told, type LoopItem, type TraceFacts } from './facts';
import { bytes, count, percent, plural, shortRanks, time } from './format';
import { fragmentOf, state, type State } from './state';

export interface Finding {
  bad: boolean;
  text: ComponentChildren;
  view: string;
  change?: Partial<State>;
}

export function linkTo(view: string, change: Partial<State> = {}): string {
  return fragmentOf({ ...state(), by: '', text: '', at: null, ...change, view });
}

function stepOf(items: LoopItem[]): LoopItem | null {
  for (const item of items) {
    if (item.is_time_step) return item;
    const inner = item.body ? stepOf(item.body) : null;
    if (inner) return inner;
  }
  return null;
}

export function findingsOf(trace: TraceFacts): Finding[] {
  const found: Finding[] = [];
  const info = told(trace.info);
  const summary = told(trace.summary);
  const waits = told(trace.waits);
  const efficiency = told(trace.efficiency);
  const check = told(trace.check);
  const loops = told(trace.loops);
  const phases = told(trace.phases);

  if (info && info.status !== 'complete') {
    found.push({ bad: true, view: 'overview', text: <>The recording is not complete: {info.status}.</> });
  }
  if (info && info.degraded.length > 0) {
    for (const one of info.degraded.slice(0, 5)) found.push({ bad: true, view: 'overview', text: <>{one.reason}, ranks {shortRanks(one.ranks)}.</> });
  }
  for (const finding of check?.findings.slice(0, 5) ?? []) {
    found.push({ bad: finding.sure, view: 'check', text: <>{finding.sure ? '' : 'Perhaps: '}{finding.text}</> });
  }
  const failed = summary?.failed_calls ?? 0;
  if (failed > 0) found.push({ bad: true, view: 'sites', text: <>{plural(failed, 'call')} failed.</> });

  const loop = loops?.kinds[0] ? stepOf(loops.kinds[0].items) : null;
  if (loop) {
    found.push({
      bad: false, view: 'loops',
      text: (
        <>
          Its time step is the loop at {loop.place}: {count(loop.turns / Math.max(1, loop.times))} turns
          {loop.seconds_a_turn !== null && <>, {time(loop.seconds_a_turn)} in MPI each</>}, {count(loop.calls_a_turn)} calls and{' '}
          {bytes(loop.bytes_a_turn)} a turn and rank.
        </>
      ),
    });
  }
  for (const phase of phases?.phases ?? []) {
    const turn = phase.a_turn;
    if (!turn || turn.turns < 20) continue;
    const ratio = turn.first_tenth_seconds / turn.last_tenth_seconds;
    if (ratio > 1.5 || ratio < 1 / 1.5) {
      found.push({
        bad: ratio < 1, view: 'overview',
        text: (
          <>
            Turns of the loop at {phase.place} {ratio > 1 ? 'became shorter' : 'became longer'}: {time(turn.first_tenth_seconds)} in
            the first tenth of them, {time(turn.last_tenth_seconds)} in the last.
          </>
        ),
      });
    }
    if (turn.most_seconds > 8 * turn.mean_seconds) {
      found.push({
        bad: false, view: 'overview',
        text: (
          <>
            The longest turn of that loop took {time(turn.most_seconds)}, {count(turn.most_seconds / turn.mean_seconds)} times the
            mean: turn {count(turn.most_turn)} on rank {turn.most_rank}.
          </>
        ),
      });
    }
  }
  const top = summary?.lines.find((line) => line.share_of_mpi !== null && line.share_of_mpi > 0);
  if (top && top.share_of_mpi! > 0.3) {
    found.push({
      bad: false, view: 'sites', change: { fn: top.function },
      text: <>{percent(top.share_of_mpi)} of the time in MPI is spent in {top.function}.</>,
    });
  }
  if (waits && waits.run_seconds > 0) {
    const share = waits.waited_seconds / waits.run_seconds;
    const first = waits.lines[0];
    if (share > 0.02 && first) {
      found.push({
        bad: share > 0.2, view: 'waits',
        text: (
          <>
            Ranks waited for others {percent(share)} of the time between MPI_Init and MPI_Finalize, most of it in {first.in.function} at{' '}
            {first.in.site} ({first.kind}){first.for && <>, for {first.for.function} at {first.for.site}</>}.
          </>
        ),
      });
    }
    const cause = waits.causes[0];
    if (cause && cause.share_of_waits > 0.3) {
      found.push({
        bad: false, view: 'waits',
        text: (
          <>
            {percent(cause.share_of_waits)} of the waiting was for ranks that were {cause.activity.doing === 'outside' ? 'outside MPI before' : 'in'}{' '}
            {cause.activity.place ? `${cause.activity.place.function} at ${cause.activity.place.site}` : 'their own work'}, rank {cause.rank} above all.
          </>
        ),
      });
    }
  }
  if (efficiency?.parallel !== null && efficiency?.parallel !== undefined) {
    const parts: [string, number | null][] = [
      ['uneven work', efficiency.load_balance],
      ['ranks that depend on each other', efficiency.serialisation],
      ['the time that messages take', efficiency.transfer],
    ];
    const worst = parts.filter((p): p is [string, number] => p[1] !== null).sort((a, b) => a[1] - b[1])[0];
    found.push({
      bad: efficiency.parallel < 0.5, view: 'waits',
      text: <>{percent(efficiency.parallel)} of the ranks' time is work outside MPI{worst && worst[1] < 0.9995 && <>; most is lost to {worst[0]}</>}.</>,
    });
  } else if (summary && summary.outside_imbalance !== null && summary.outside_imbalance > 1.2 && summary.slowest_rank) {
    found.push({
      bad: summary.outside_imbalance > 1.5, view: 'ranks', change: { ranks: String(summary.slowest_rank.rank) },
      text: (
        <>
          Work outside MPI is uneven: rank {summary.slowest_rank.rank} has {summary.outside_imbalance.toFixed(2)} times the mean.
        </>
      ),
    });
  }
  for (const flag of summary?.grows_with_ranks ?? []) {
    found.push({ bad: false, view: 'sites', change: { fn: flag.function }, text: <>What {flag.function} takes grows with the number of ranks.</> });
  }
  if (check && check.findings.length === 0) {
    found.push({ bad: false, view: 'check', text: <>Nothing wrong was found: {plural(check.kinds.length, 'kind')} of faults were looked for.</> });
  }
  return found;
}
