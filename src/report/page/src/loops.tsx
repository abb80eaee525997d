// Loops: what ranks repeat, as an icicle: each loop as wide as its part of the whole, what is in it below.
import { useMemo, useState } from 'preact/hooks';
import { Chart } from './chart';
import { colourOf, kRest } from './colours';
import type { Context } from './context';
import { refusal, told, type LoopItem, type LoopKind } from './facts';
import { bytes, count, percent, plural, shortRanks, time } from './format';
import { set, useShown } from './state';
import { Table } from './table';

type Measure = 'time' | 'calls' | 'bytes';

interface Box {
  item: LoopItem;
  depth: number;
  from: number;
  to: number;
  /** All turns together. */
  amount: number;
}

function amountOf(item: LoopItem, measure: Measure): number {
  const a = measure === 'time' ? (item.seconds_a_turn ?? 0) : measure === 'calls' ? item.calls_a_turn : item.bytes_a_turn;
  const apart = measure === 'time' && (item.function === 'MPI_Init' || item.function === 'MPI_Init_thread' || item.function === 'MPI_Finalize');
  return apart ? 0 : a * item.turns;
}

function boxesOf(kind: LoopKind, measure: Measure): { boxes: Box[]; whole: number } {
  const boxes: Box[] = [];
  const whole = kind.items.reduce((sum, item) => sum + amountOf(item, measure), 0);
  const lay = (items: LoopItem[], from: number, depth: number) => {
    for (const item of items) {
      const amount = amountOf(item, measure);
      boxes.push({ item, depth, from, to: from + amount, amount });
      if (item.body) lay(item.body, from, depth + 1);
      from += amount;
    }
  };
  lay(kind.items, 0, 0);
  return { boxes, whole };
}

function nameOf(item: LoopItem): string {
  const many = item.least_turns === item.most_turns ? count(item.most_turns) : `${count(item.least_turns)}-${count(item.most_turns)}`;
  const turns = item.most_turns > 1 ? `${many} × ` : '';
  return `${turns}${item.is_time_step ? 'time step ' : ''}${item.function ? `${item.function} ` : ''}${item.place}`;
}

function flat(items: LoopItem[], depth = 0): { item: LoopItem; depth: number }[] {
  return items.flatMap((item) => [{ item, depth }, ...flat(item.body ?? [], depth + 1)]);
}

const kRow = 24;

export function Loops({ context }: { context: Context }) {
  const shown = useShown();
  const loops = told(context.trace.loops);
  const [chosen, setChosen] = useState(0);
  const timed = loops?.kinds[chosen]?.items.some((item) => item.seconds_a_turn !== null) ?? false;
  const measure: Measure = shown.by === 'calls' || shown.by === 'bytes' ? shown.by : timed ? 'time' : 'calls';
  const [zoom, setZoom] = useState<{ from: number; to: number } | null>(null);
  const kind = loops?.kinds[chosen];
  const laid = useMemo(() => (kind ? boxesOf(kind, measure) : null), [kind, measure]);
  if (!loops) return <p class="warn">{refusal(context.trace.loops)}</p>;
  if (!kind || !laid) return <p>No rank of this trace calls MPI.</p>;
  const colours = new Map<string, string>();
  for (const box of laid.boxes) {
    if (box.item.function && !colours.has(box.item.function)) colours.set(box.item.function, colourOf(colours.size));
  }
  const depth = 1 + Math.max(0, ...laid.boxes.map((box) => box.depth));
  const window = zoom ?? { from: 0, to: Math.max(laid.whole, 1e-30) };
  const text = (amount: number) => (measure === 'time' ? time(amount) : measure === 'calls' ? plural(amount, 'call') : bytes(amount));
  const boxAt = (x: number, y: number, width: number): Box | undefined => {
    const at = window.from + (x / width) * (window.to - window.from);
    return laid.boxes.find((box) => box.depth === Math.floor(y / kRow) && at >= box.from && at < box.to);
  };
  return (
    <>
      <div class="tools">
        {loops.kinds.length > 1 && (
          <label>
            Ranks{' '}
            <select value={chosen} onChange={(event) => { setChosen(Number(event.currentTarget.value)); setZoom(null); }}>
              {loops.kinds.map((one, i) => (
                <option key={i} value={i}>
                  {shortRanks(one.ranks, 40)}{one.thread ? `, thread ${one.thread}` : ''}: {count(one.calls)} calls each
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          As wide as its{' '}
          <select value={measure} onChange={(event) => { set({ by: event.currentTarget.value }); setZoom(null); }}>
            {timed && <option value="time">time in MPI</option>}
            <option value="calls">calls</option>
            <option value="bytes">bytes</option>
          </select>
        </label>
        {zoom && <button type="button" onClick={() => setZoom(null)}>All of it</button>}
      </div>
      <Chart
        name="loops" height={depth * kRow + 2}
        label={`Loops of ranks ${kind.ranks}, nested; the table below has them`}
        draw={(surface, width, _height, ink) => {
          const scale = width / (window.to - window.from);
          for (const box of laid.boxes) {
            const x = Math.max(0, (box.from - window.from) * scale);
            const end = Math.min(width, (box.to - window.from) * scale);
            if (end - x < 0.4) continue;
            const y = box.depth * kRow;
            const fn = box.item.function;
            const other = fn && ((shown.fn !== '' && fn !== shown.fn) || (shown.site !== '' && box.item.place !== shown.site));
            surface.rect(x, y, Math.max(0.5, end - x - 1), kRow - 2, fn ? (other ? kRest : (colours.get(fn) ?? kRest)) : ink.idle);
            const room = Math.floor((end - x - 8) / 6.6);
            if (room < 4) continue;
            const name = nameOf(box.item);
            const light = fn ? '#ffffff' : ink.text;
            const dark = ['#f0e442', '#e69f00', '#56b4e9', '#88ccee', '#ddcc77'].includes(colours.get(fn ?? '') ?? '') ? '#1b1f24' : light;
            surface.text(x + 4, y + kRow / 2 - 1, name.length > room ? name.slice(0, room - 1) + '…' : name, dark);
          }
        }}
        tip={(x, y, width) => {
          const box = boxAt(x, y, width);
          if (!box) return null;
          return (
            <>
              <b>{nameOf(box.item)}</b>
              <br />
              {percent(box.amount / laid.whole)}, {text(box.amount)} of a rank;
              a turn: {count(box.item.calls_a_turn)} calls, {bytes(box.item.bytes_a_turn)}, {time(box.item.seconds_a_turn)}
            </>
          );
        }}
        handlers={{ onClick: (event) => {
          const box = boxAt(event.offsetX, event.offsetY, event.currentTarget.clientWidth);
          if (!box) return;
          if (box.item.function) set({ fn: box.item.function, site: box.item.place });
          else setZoom(box.amount > 0 && !(zoom && zoom.from === box.from && zoom.to === box.to) ? { from: box.from, to: box.to } : null);
        } }}
      />
      <p class="faint">Click a loop to widen it, a call to select it everywhere.</p>
      <Table
        name="loops" rows={flat(kind.items)} page={40}
        columns={[
          { name: 'turns', value: (r) => r.item.turns / Math.max(1, r.item.times), show: (r) => (r.item.least_turns === r.item.most_turns ? count(r.item.most_turns) : `${count(r.item.least_turns)}-${count(r.item.most_turns)}`) },
          { name: 'what and where', left: true, value: (r) => r.item.place,
            show: (r) => <span style={{ paddingLeft: `${r.depth * 1.5}em` }}>{r.item.is_time_step && <b>time step </b>}{r.item.function ?? 'loop'} <span class="faint">{r.item.place}</span></span> },
          { name: 'calls a turn', value: (r) => r.item.calls_a_turn, show: (r) => count(r.item.calls_a_turn) },
          { name: 'bytes a turn', value: (r) => r.item.bytes_a_turn, show: (r) => (r.item.bytes_known ? '' : '≥ ') + bytes(r.item.bytes_a_turn) },
          { name: 'time a turn', value: (r) => r.item.seconds_a_turn, show: (r) => time(r.item.seconds_a_turn) },
          { name: 'time in all', value: (r) => (r.item.seconds_a_turn === null ? null : r.item.seconds_a_turn * r.item.turns), show: (r) => time(r.item.seconds_a_turn === null ? null : r.item.seconds_a_turn * r.item.turns) },
        ]}
        onPick={(r) => r.item.function && set({ fn: r.item.function, site: r.item.place })}
        picked={(r) => r.item.function === shown.fn && r.item.place === shown.site}
      />
      {(kind.items_further ?? 0) > 0 && <p class="faint">{count(kind.items_further!)} further loops and calls, with fewer calls each: see cairn loops --calls.</p>}
      {(loops.kinds_further ?? 0) > 0 && <p class="faint">{count(loops.kinds_further!)} further kinds of ranks: see cairn loops --all.</p>}
    </>
  );
}
