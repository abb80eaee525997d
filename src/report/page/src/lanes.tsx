// Lanes: what the timeline shows below the ranks: a lane for each stream of a GPU with the kernels that ran on it, and
// one for what calls on files took.
import type { ComponentChildren } from 'preact';
import { colourOf, kRest, resolved } from './colours';
import type { Launch } from './facts';
import { count, percent, rangesOf, timeOfNs } from './format';
import type { Strip } from './protocol';
import type { Surface } from './surface';

export const kLane = 18;
const kMostStreams = 24;

export interface Lane {
  name: string;
  /** Between `left` and `right`, from y on; `x`: of a moment in ns. */
  draw(surface: Surface, x: (ns: number) => number, left: number, right: number, y: number): void;
  tip(ns: number, near: number): ComponentChildren;
}

interface Ran {
  launch: Launch;
  begin: number;
  end: number;
}

export interface Kernels {
  lanes: Lane[];
  /** Streams that have no lane. */
  further: number;
  /** Names and colours, those that ran longest first. */
  legend: { name: string; colour: string }[];
}

/** Of these ranks; '': of all. Cost: the launches. */
export function kernelLanes(launches: Launch[], ranks: string): Kernels {
  const ranges = rangesOf(ranks);
  const wanted = (rank: number) => ranges.length === 0 || ranges.some(([first, last]) => rank >= first && rank <= last);
  const streams = new Map<string, Ran[]>();
  const ranOf = new Map<string, number>();
  for (const launch of launches) {
    if (launch.begin_ns === null || launch.duration_ns === null || !wanted(launch.rank)) continue;
    const name = `${launch.rank} gpu${launch.device}/${launch.stream}`;
    const ran = { launch, begin: launch.begin_ns, end: launch.begin_ns + launch.duration_ns };
    const here = streams.get(name);
    if (here) here.push(ran);
    else streams.set(name, [ran]);
    ranOf.set(launch.kernel, (ranOf.get(launch.kernel) ?? 0) + launch.duration_ns);
  }
  const names = [...ranOf].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
  const colours = new Map(names.map((name, i) => [name, colourOf(i)]));
  const lanes = [...streams].slice(0, kMostStreams).map(([name, all]): Lane => ({
    name,
    draw: (surface, x, left, right, y) => {
      surface.rect(left, y, right - left, kLane - 4, resolved('var(--idle)'));
      for (const { launch, begin, end } of all) {
        const from = Math.max(left, x(begin));
        const to = Math.min(right, x(end));
        if (to >= left && from <= right) surface.rect(from, y, Math.max(1, to - from), kLane - 4, colours.get(launch.kernel) ?? kRest);
      }
    },
    tip: (ns, near) => {
      const ran = all.find((one) => ns >= one.begin - near && ns <= one.end + near);
      if (!ran) return <b>{name}</b>;
      const { launch } = ran;
      return (
        <>
          <b>{launch.kernel}</b>{`<<<${launch.grid}, ${launch.block}>>>`}<br />
          launch {count(launch.launch)} of rank {launch.rank}, ran {timeOfNs(ran.end - ran.begin)}
          {launch.queued_ns !== null && `, ${timeOfNs(launch.queued_ns)} after it was made`}
          {launch.calls_before !== null && <><br />made after {count(launch.calls_before)} MPI calls</>}
        </>
      );
    },
  }));
  return { lanes, further: Math.max(0, streams.size - kMostStreams), legend: names.slice(0, 8).map((name) => ({ name, colour: colours.get(name)! })) };
}

/** What part of the time the ranks in sight were in calls on files; null: in none, or not told apart. */
export function filesLane(strip: Strip): Lane | null {
  const files = strip.kinds.indexOf('files');
  if (files < 0) return null;
  const kinds = strip.kinds.length;
  const each = (strip.end - strip.begin) / strip.columns;
  const ranks = strip.lines.reduce((sum, line) => sum + line.count, 0);
  const shares = Array.from({ length: strip.columns }, (_, column) =>
    strip.lines.reduce((sum, line, l) => sum + strip.ns[(l * strip.columns + column) * kinds + files]! * line.count, 0) / (ranks * each || 1));
  if (!shares.some((share) => share > 0)) return null;
  return {
    name: 'file I/O',
    draw: (surface, x, left, right, y) => {
      surface.rect(left, y, right - left, kLane - 4, resolved('var(--idle)'));
      shares.forEach((share, column) => {
        const from = Math.max(left, x(strip.begin + column * each));
        const to = Math.min(right, x(strip.begin + (column + 1) * each));
        if (share <= 0 || to <= from) return;
        const high = Math.max(1, Math.min(1, share) * (kLane - 4));
        surface.rect(from, y + kLane - 4 - high, to - from + 0.3, high, '#56b4e9');
      });
    },
    tip: (ns) => {
      const share = shares[Math.floor((ns - strip.begin) / each)];
      return share === undefined ? null : <><b>calls on files</b>: {percent(share)} of the ranks' time here</>;
    },
  };
}
