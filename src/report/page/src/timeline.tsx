// Timeline: ranks over time, by sort of call, function or call site. What lies in a column is summed exactly, so that
// colours tell shares at any zoom; few calls are drawn one by one.
import { scaleLinear } from 'd3-scale';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { arrowsIn, drawArrows, kMostCallsMatched, kMostInPart, linesOf, nearest } from './arrows';
import { Chart, type Ink } from './chart';
import { Outdated } from './client';
import { colourOf, colourOfSort, kRest, resolved } from './colours';
import type { Context } from './context';
import { told } from './facts';
import { bytes, count, countOfRanks, momentOfNs, percent, plural, rangesOf, shortRanks, timeOfNs } from './format';
import { filesLane, kernelLanes, kLane } from './lanes';
import type { DrawnCall, Group, Messages, Strip } from './protocol';
import { go, set, useShown, type State } from './state';
import { painted, type Palette } from './strip_picture';
import type { Surface } from './surface';

const kLeft = 96;
const kAxis = 26;
const kMostLines = 120;
const kHeight = 560;
/** Calls that are gone through at once: while somebody moves, and when they have stopped. */
const kCallsMoving = 30000;
const kCallsStill = 300000;
const kStillMs = 200;
/** Single calls that are drawn, of all lines together. */
const kMostDrawn = 3000;

type By = 'sort' | 'function' | 'site';
type Fold = 'neighbours' | 'classes';

function byOf(shown: State): By {
  if (shown.by === 'sort' || shown.by === 'function' || shown.by === 'site') return shown.by;
  return shown.site !== '' ? 'site' : shown.fn !== '' ? 'function' : 'sort';
}

function rowHeight(lines: number): number {
  return Math.max(3, Math.min(36, Math.floor(kHeight / Math.max(1, lines))));
}

/** "MPI_Isend at main.c:12 in main()" of "main.c:12 in main()". */
function isOfSite(kind: string, fn: string, site: string): boolean {
  const at = kind.indexOf(' at ');
  return (fn === '' || (at < 0 ? kind : kind.slice(0, at)) === fn) && (site === '' || (at >= 0 && site === kind.slice(at + 4)));
}

/** Of all ranks, by kind. */
function sumsOf(strip: Strip): number[] {
  const kinds = strip.kinds.length;
  const sums = new Array<number>(kinds).fill(0);
  for (let line = 0; line < strip.lines.length; ++line) {
    const many = strip.lines[line]!.count;
    for (let column = 0; column < strip.columns; ++column) {
      const at = (line * strip.columns + column) * kinds;
      for (let kind = 0; kind < kinds; ++kind) sums[kind]! += strip.ns[at + kind]! * many;
    }
  }
  return sums;
}

/** The colours of a strip's kinds: most time first, what is not selected grey. */
function paletteOf(strip: Strip, sums: number[], by: By, shown: State): Palette & { sums: number[] } {
  const kinds = strip.kinds.length;
  const order = sums.map((_, i) => i).sort((a, b) => sums[b]! - sums[a]!);
  const colours = new Array<string>(kinds).fill(kRest);
  let next = 0;
  for (const kind of order) {
    const name = strip.kinds[kind]!;
    if (name === 'outside MPI') colours[kind] = resolved('var(--idle)');
    else if (by === 'sort') colours[kind] = colourOfSort(name, next++);
    else {
      const wanted = by === 'function' ? shown.fn === '' || name === shown.fn : isOfSite(name, shown.fn, shown.site);
      colours[kind] = wanted ? colourOf(next++) : kRest;
    }
  }
  return { colours, order: order.filter((kind) => sums[kind]! > 0), sums };
}

export function Timeline({ context, client: given, bare }: { context: Context; client?: Context['client']; bare?: boolean }) {
  const shown = useShown();
  const client = given ?? context.client;
  const [strip, setStrip] = useState<Strip | null>(null);
  const [calls, setCalls] = useState<{ key: string; rows: DrawnCall[][] } | null>(null);
  const [trouble, setTrouble] = useState('');
  const [tries, setTries] = useState(0);
  const [matched, setMatched] = useState<{ of: string; messages: Messages } | null>(null);
  const [unmatched, setUnmatched] = useState('');
  const [arrowsWanted, setArrowsWanted] = useState(true);
  const [finer, setFiner] = useState(false);
  const [width, setWidth] = useState(0);
  const [fold, setFold] = useState<Fold>('neighbours');
  const drag = useRef<{ x: number; from: number; to: number; selecting: boolean; moved: boolean } | null>(null);
  const [band, setBand] = useState<[number, number] | null>(null);
  const by = byOf(shown);
  const picture = useRef<{ strip: Strip; key: string; made: HTMLCanvasElement } | null>(null);

  const whole = strip?.whole ?? [0, 1];
  const from = shown.from ?? whole[0];
  const to = Math.max(from + 1, shown.to ?? whole[1]);

  useLayoutEffect(() => {
    if (!client || width <= kLeft) return;
    let alive = true;
    const columns = Math.max(50, Math.min(2000, Math.floor((width - kLeft) / 2)));
    // While somebody moves, wide ones: of 120 lines they are a megabyte less to make, to send and to paint.
    const wide = Math.max(50, Math.floor(columns / 2));
    setTrouble('');
    let later: ReturnType<typeof setTimeout> | undefined;
    const question = { by, ranks: shown.ranks, fold, lines: kMostLines };
    const ask = (mostCalls: number, columns: number) => client.ask('strip', { ...question, from: shown.from, to: shown.to, columns, mostCalls }, true).then(
      (answer) => {
        if (!alive) return;
        const finer = answer.done === 1 && mostCalls < kCallsStill;
        setStrip(answer);
        setFiner(finer);
        setTrouble('');
        if (answer.done < 1) still();
        else if (finer) later = setTimeout(still, kStillMs);
        else if (client.opened.timed && !answer.coarse) later = setTimeout(prepare, kStillMs);
      },
      (error: Error) => alive && !(error instanceof Outdated) && setTrouble(error.message));
    // Where nobody moves, what the whole run is like is added up bit by bit, so that all of it is there at once when
    // somebody does.
    const prepare = () => void client.ask('strip', { ...question, from: null, to: null, columns: 50, mostCalls: kCallsMoving }, true).then(
      (answer) => alive && answer.coarse && answer.done < 1 && prepare(), () => {});
    const still = () => void ask(kCallsStill, columns);
    void ask(kCallsMoving, wide);
    return () => {
      alive = false;
      clearTimeout(later);
    };
  }, [client, width, by, fold, shown.ranks, shown.from, shown.to, tries]);

  // Single calls, where few are on the screen.
  const many = strip !== null && (strip.coarse || (strip.axis === 'measured' && strip.steps > 2 * kMostDrawn));
  const single = strip && !many && strip.lines.every((line) => line.count === 1) && strip.lines.length <= 64 ? strip.lines : null;
  const key = single ? `${by}|${single.map((l) => l.ranks).join(';')}|${from}|${to}` : '';
  useLayoutEffect(() => {
    if (!client || !single) return;
    let alive = true;
    client.ask('drawn', { by, ranks: single.map((line) => Number(line.ranks)), from, to, most: kMostDrawn }, true).then(
      (rows) => alive && setCalls(rows === null ? null : { key, rows }),
      (error: Error) => alive && !(error instanceof Outdated) && setCalls(null));
    return () => { alive = false; };
  }, [client, key]);

  // Messages: of the run, or, where it is too long to be gone through, of a window with few calls.
  const short = (client?.opened.calls ?? 0) <= kMostCallsMatched;
  const matchable = !bare && strip !== null && strip.axis === 'measured' && strip.lines.every((line) => line.count === 1) &&
    (short || !strip.coarse);
  const part = !matchable ? '' : short ? 'run' : `${strip.lines.map((line) => line.ranks).join()} ${from} ${to}`;
  useEffect(() => {
    if (!client || part === '' || !arrowsWanted) return;
    let alive = true;
    const found = (messages: Messages) => alive && setMatched({ of: part, messages });
    const failed = (error: Error) => alive && !(error instanceof Outdated) && setUnmatched(error.message);
    setUnmatched('');
    const ask = () => {
      const ranks = strip!.lines.map((line) => [Number(line.ranks), Number(line.ranks)] as const);
      client.messagesOf({ ranks, begin: from, end: to, most: kMostInPart, mostBefore: kMostCallsMatched }).then(found, failed);
    };
    let later: ReturnType<typeof setTimeout> | undefined;
    if (short) client.messages().then(found, failed);
    else later = setTimeout(ask, kStillMs);
    return () => {
      alive = false;
      clearTimeout(later);
    };
  }, [client, part, arrowsWanted]);
  const messages = matched?.messages ?? null;
  const tooFar = matched?.of === part ? matched.messages.tooFar : 0;
  const rows = useMemo(() => new Map((strip?.lines ?? []).map((line, i) => [Number(line.ranks), i])), [strip]);
  const arrows = useMemo(() => matchable && arrowsWanted && messages ? arrowsIn(messages, rows, from, to) : null,
    [messages, rows, from, to, matchable, arrowsWanted]);

  const clamp = (a: number, b: number, quiet: boolean) => {
    const span = Math.max(10, Math.min(b - a, whole[1] - whole[0]));
    const begin = Math.max(whole[0], Math.min(a, whole[1] - span));
    const all = begin <= whole[0] && begin + span >= whole[1];
    set({ from: all ? null : Math.floor(begin), to: all ? null : Math.ceil(begin + span) }, quiet);
  };
  const zoom = (factor: number, at: number, quiet = true) => clamp(at - (at - from) * factor, at + (to - at) * factor, quiet);
  const pan = (part: number) => clamp(from + (to - from) * part, to + (to - from) * part, true);

  const sums = useMemo(() => (strip ? sumsOf(strip) : []), [strip]);
  const launches = bare ? null : told(context.trace.launches);
  const kernels = useMemo(() => kernelLanes(launches?.launches ?? [], shown.ranks), [launches, shown.ranks]);
  const lanes = useMemo(() => {
    if (!strip || strip.axis === 'calls') return [];
    const files = by === 'sort' ? filesLane(strip) : null;
    return [...(files ? [files] : []), ...kernels.lanes];
  }, [strip, by, kernels]);

  if (!client) return <p class="busy">{context.trouble || 'The trace is being opened …'}</p>;
  if (trouble) return <p class="warn">{trouble} <button type="button" onClick={() => setTries(tries + 1)}>Again</button></p>;
  const lines = strip?.lines ?? [];
  const row = rowHeight(lines.length);
  const lanesTop = kAxis + lines.length * row + 8;
  const height = lines.length * row + kAxis + 4 + (lanes.length > 0 ? 8 + lanes.length * kLane : 0);
  const palette = strip ? paletteOf(strip, sums, by, shown) : null;
  const scale = scaleLinear([from, to], [kLeft, Math.max(kLeft + 1, width)]);
  const inCalls = strip?.axis === 'calls';
  const unit = (value: number) => (inCalls ? plural(Math.round(value / 1000), 'call') : timeOfNs(value));
  const moment = (value: number, step: number) => (inCalls ? unit(value) : momentOfNs(value, step));
  const drawn = calls && calls.key === key ? calls.rows : null;
  const arrowLines = (wide: number) => arrows && messages
    ? linesOf(messages, arrows, rows, scale, (line) => kAxis + line * row + row / 2, kLeft, wide) : [];
  /** All columns as one picture; false: this surface takes none. */
  const drawPicture = (surface: Surface, wide: number): boolean => {
    if (!strip || !palette || !surface.picture || !surface.pixels) return false;
    const high = Math.max(1, Math.round(row * surface.pixels));
    const gap = Math.round(surface.pixels);
    const key = `${high} ${palette.colours.join()} ${palette.order.join()}`;
    if (picture.current?.strip !== strip || picture.current.key !== key) picture.current = { strip, key, made: painted(strip, palette, high, gap) };
    surface.picture(picture.current.made, scale(strip.begin), kAxis, scale(strip.end) - scale(strip.begin), lines.length * row, kLeft, wide);
    return true;
  };
  const draw = (surface: Surface, wide: number, _height: number, ink: Ink) => {
    if (!strip || !palette) return;
    const pictured = !drawn && drawPicture(surface, wide);
    const kinds = strip.kinds.length;
    const each = (strip.end - strip.begin) / strip.columns;
    for (let line = 0; line < lines.length; ++line) {
      const y = kAxis + line * row;
      if (row >= 9 || line % Math.ceil(10 / row) === 0)
        surface.text(kLeft - 8, y + row / 2, shortRanks(lines[line]!.ranks, 11), ink.text, 'end', Math.min(12, Math.max(9, row - 2)));
      if (drawn) {
        surface.rect(kLeft, y, wide - kLeft, row - 1, resolved('var(--idle)'));
        for (const call of drawn[line] ?? []) {
          const x = Math.max(kLeft, scale(call.begin));
          const end = Math.min(wide, scale(call.end));
          if (end < kLeft || x > wide || call.depth > 0) continue;
          surface.rect(x, y, Math.max(1, end - x), row - 1, palette.colours[call.kind] ?? kRest);
        }
        continue;
      }
      if (pictured) continue;
      for (let column = 0; column < strip.columns; ++column) {
        const x = scale(strip.begin + column * each);
        const end = scale(strip.begin + (column + 1) * each);
        if (end < kLeft || x > wide) continue;
        const at = (line * strip.columns + column) * kinds;
        let sum = 0;
        for (let kind = 0; kind < kinds; ++kind) sum += strip.ns[at + kind]!;
        if (sum <= 0) continue;
        // Shares of the column, one above the other.
        const high = (row - 1) * Math.min(1, sum / each || 1);
        let top = y + (row - 1 - high);
        for (const kind of palette.order) {
          const part = (strip.ns[at + kind]! / sum) * high;
          if (part <= 0) continue;
          surface.rect(Math.max(kLeft, x), top, Math.min(wide, end) - Math.max(kLeft, x) + 0.3, part, palette.colours[kind]!);
          top += part;
        }
      }
    }
    lanes.forEach((lane, i) => {
      const y = lanesTop + i * kLane;
      surface.text(kLeft - 8, y + kLane / 2 - 2, lane.name, ink.text, 'end', 11);
      lane.draw(surface, scale, kLeft, wide, y);
    });
    drawArrows(surface, arrowLines(wide), ink.text, wide);
    const ticks = scale.ticks(Math.max(2, Math.floor((wide - kLeft) / 130)));
    for (const tick of ticks) {
      const x = scale(tick);
      surface.line(x, kAxis - 6, x, kAxis - 1, ink.faint);
      surface.text(x, 10, moment(tick, (ticks[1] ?? to) - (ticks[0] ?? from)), ink.faint, x > wide - 40 ? 'end' : 'middle');
    }
    if (band) {
      const [a, b] = [Math.min(...band), Math.max(...band)];
      surface.line(a, kAxis, a, kAxis + lines.length * row, ink.accent, 2);
      surface.line(b, kAxis, b, kAxis + lines.length * row, ink.accent, 2);
    }
  };
  const lineAt = (y: number) => lines[Math.floor((y - kAxis) / row)];
  const tip = (x: number, y: number) => {
    const index = Math.floor((y - kAxis) / row);
    const line = lines[index];
    if (!strip || x < kLeft) return null;
    const at = scale.invert(x);
    const lane = y >= lanesTop ? lanes[Math.floor((y - lanesTop) / kLane)] : undefined;
    if (lane) return lane.tip(at, scale.invert(x + 2) - at);
    if (!line) return null;
    const message = nearest(arrowLines(width), x, y);
    if (message !== null && messages) {
      const size = messages.bytes[message]!;
      return <><b>message from {messages.from[message]} to {messages.to[message]}</b><br />
        {size < 0 ? 'size not known' : bytes(size)}, tag {messages.tag[message]}, {timeOfNs(messages.end[message]! - messages.begin[message]!)} from
        call {count(messages.sentBy[message]!)} to the end of call {count(messages.receivedBy[message]!)}</>;
    }
    const call = drawn?.[index]?.find((one) => one.depth === 0 && at >= one.begin && at <= one.end);
    const head = <><b>{line.count === 1 ? `rank ${line.ranks}` : `ranks ${shortRanks(line.ranks)}`}</b>{line.count > 1 && ` (${count(line.count)})`} at {moment(at, (to - from) / 1000)}<br /></>;
    const group: Group | undefined = call && client.opened.groups[call.group];
    if (call && group) return <>{head}{group.fn} {group.site}<br />{strip.axis === 'calls' ? '' : `${strip.axis === 'measured' ? 'took' : 'takes in the mean'} ${timeOfNs(call.end - call.begin)}, `}call {count(call.index)}{bare ? '' : '; click to see it'}</>;
    const column = Math.floor(((at - strip.begin) / (strip.end - strip.begin)) * strip.columns);
    if (column < 0 || column >= strip.columns) return head;
    const kinds = strip.kinds.length;
    const ns = (kind: number) => strip.ns[(index * strip.columns + column) * kinds + kind]!;
    const most = strip.kinds.map((name, kind) => ({ name, value: ns(kind) })).filter((one) => one.value > 0).sort((a, b) => b.value - a.value);
    const sum = most.reduce((all, one) => all + one.value, 0);
    return <>{head}{most.slice(0, 6).map((one) => <div key={one.name}>{percent(one.value / sum)} {one.name}</div>)}</>;
  };
  const legend = palette && strip ? palette.order.slice(0, 14) : [];
  const total = palette ? palette.sums.reduce((sum, one) => sum + one, 0) : 1;
  return (
    <>
      {!bare && (
        <div class="tools">
          <label>
            Coloured by{' '}
            <select value={by} onChange={(event) => set({ by: event.currentTarget.value })}>
              <option value="sort">sort of call</option>
              <option value="function">function</option>
              <option value="site">call site</option>
            </select>
          </label>
          <label>
            Ranks that share a line{' '}
            <select value={fold} onChange={(event) => setFold(event.currentTarget.value as Fold)}>
              <option value="neighbours">are next to each other</option>
              <option value="classes">are of one class</option>
            </select>
          </label>
          <span>
            <button type="button" aria-label="zoom in" onClick={() => zoom(0.5, (from + to) / 2, false)}>+</button>{' '}
            <button type="button" aria-label="zoom out" onClick={() => zoom(2, (from + to) / 2, false)}>−</button>{' '}
            <button type="button" onClick={() => set({ from: null, to: null })}>whole run</button>
          </span>
          {matchable && (
            <label>
              <input type="checkbox" checked={arrowsWanted} onChange={(event) => setArrowsWanted(event.currentTarget.checked)} />{' '}
              messages{arrowsWanted && (unmatched !== '' ? `: ${unmatched}`
                : matched?.of !== part ? <span class="busy"> being matched …</span>
                : tooFar > 0 ? `: not here, as ${count(tooFar)} calls before would have to be matched`
                : arrows && arrows.count > arrows.shown.length && `: ${count(arrows.count)} here, zoom in to see them`)}
            </label>
          )}
          {!strip && <span class="busy">Adding up the calls …</span>}
          {strip && (
            <span class="faint">
              {moment(from, (to - from) / 10)} to {moment(to, (to - from) / 10)}, {unit(to - from)} of {unit(whole[1] - whole[0])}
              {strip.axis === 'estimated' && '; times are means of each place, as this trace has no time of each call'}
              {strip.axis === 'calls' && '; this trace has no times: each call is as long as any other'}
              {strip.done < 1 ? <span class="busy">; being added up, {percent(strip.done)} …</span> : strip.coarse && (finer ? <span class="busy">; exact in a moment …</span> : '; shares of coarse columns: zoom in for exact ones')}
            </span>
          )}
        </div>
      )}
      <Chart
        name="timeline" height={height} onWidth={setWidth} draw={draw} tip={tip}
        label={strip ? `Timeline of ${plural(lines.reduce((sum, line) => sum + line.count, 0), 'rank')}, ${moment(from, (to - from) / 10)} to ${moment(to, (to - from) / 10)}. ${legend.map((kind) => `${strip.kinds[kind]} ${percent(palette!.sums[kind]! / total)}`).join(', ')}${arrows && arrows.shown.length > 0 ? `; ${plural(arrows.shown.length, 'message')}` : ''}${lanes.length > 0 ? `; below: ${lanes.map((lane) => lane.name).join(', ')}` : ''}` : 'Timeline'}
        csv={() => strip ? [['ranks', 'from', 'to', ...strip.kinds], ...strip.lines.flatMap((line, l) =>
          Array.from({ length: strip.columns }, (_, c) => {
            const each = (strip.end - strip.begin) / strip.columns;
            const at = (l * strip.columns + c) * strip.kinds.length;
            return [line.ranks, strip.begin + c * each, strip.begin + (c + 1) * each, ...strip.ns.slice(at, at + strip.kinds.length)];
          }))] : []}
        handlers={{
          onWheel: (event) => {
            event.preventDefault();
            if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(Math.sign(event.deltaX) * 0.1);
            else if (event.shiftKey) pan(Math.sign(event.deltaY) * 0.1);
            else zoom(event.deltaY > 0 ? 1.25 : 0.8, scale.invert(Math.max(kLeft, event.offsetX)));
          },
          onPointerDown: (event) => {
            drag.current = { x: event.offsetX, from, to, selecting: event.shiftKey, moved: false };
            event.currentTarget.setPointerCapture(event.pointerId);
          },
          onPointerMove: (event) => {
            const held = drag.current;
            if (!held) return;
            if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
            if (!held.moved) return;
            if (held.selecting) setBand([held.x, event.offsetX]);
            else {
              const by_ = ((event.offsetX - held.x) / (width - kLeft)) * (held.to - held.from);
              clamp(held.from - by_, held.to - by_, true);
            }
          },
          onPointerUp: (event) => {
            const held = drag.current;
            drag.current = null;
            setBand(null);
            if (!held) return;
            if (held.moved && held.selecting) {
              const [a, b] = [scale.invert(Math.min(held.x, event.offsetX)), scale.invert(Math.max(held.x, event.offsetX))];
              clamp(a, b, false);
            } else if (!held.moved) {
              const line = lineAt(event.offsetY);
              const at = scale.invert(event.offsetX);
              const call = drawn?.[Math.floor((event.offsetY - kAxis) / row)]?.find((one) => one.depth === 0 && at >= one.begin && at <= one.end);
              if (bare) return; // what is selected is of the first trace
              if (line && call) go('calls', { ranks: line.ranks, at: call.index, fn: '', site: '' });
              else if (line) set({ ranks: line.ranks === shown.ranks ? '' : line.ranks });
            }
          },
          onDblClick: () => set({ from: null, to: null }),
          onKeyDown: (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's
            const key_ = event.key.toLowerCase();
            const middle = (from + to) / 2;
            if (key_ === 'w' || key_ === 'arrowup') zoom(0.7, middle);
            else if (key_ === 's' || key_ === 'arrowdown') zoom(1 / 0.7, middle);
            else if (key_ === 'a' || key_ === 'arrowleft') pan(-0.15);
            else if (key_ === 'd' || key_ === 'arrowright') pan(0.15);
            else if (key_ === 'home' || key_ === '0') set({ from: null, to: null });
            else return;
            event.preventDefault();
          },
        }}
      />
      {strip && palette && (
        <table class="hidden">
          <caption>Shares of the time of all ranks in this stretch</caption>
          <tbody>{palette.order.map((kind) => <tr key={kind}><th>{strip.kinds[kind]}</th><td>{percent(palette.sums[kind]! / total)}</td></tr>)}</tbody>
        </table>
      )}
      <div class="legend">
        {legend.map((kind) => (
          <span key={kind}>
            <i style={{ background: palette!.colours[kind] }} />
            {strip!.kinds[kind]} {percent(palette!.sums[kind]! / total)}
          </span>
        ))}
      </div>
      {lanes.length > 0 && kernels.legend.length > 0 && (
        <div class="legend">
          Kernels:
          {kernels.legend.map((kernel) => <span key={kernel.name}><i style={{ background: kernel.colour }} />{kernel.name}</span>)}
          {kernels.further > 0 && <span class="faint">{plural(kernels.further, 'further stream')}: select ranks to see them</span>}
          {(launches?.launches_further ?? 0) > 0 && <span class="faint">{plural(launches!.launches_further!, 'further launch')}: see cairn gpu launches</span>}
        </div>
      )}
      {!bare && (
        <p class="faint">
          Wheel or W and S zoom, drag or A and D move, shift and drag choose a stretch, a click selects ranks.{' '}
          {shown.ranks !== '' && rangesOf(shown.ranks).length > 0 && (
            <button type="button" onClick={() => go('calls', { ranks: shown.ranks })}>Calls of {countOfRanks(shown.ranks) === 1 ? `rank ${shown.ranks}` : 'these ranks'}</button>
          )}
        </p>
      )}
    </>
  );
}
