// Communication matrix: who sends how much to whom, from blocks of ranks to single pairs.
import { useLayoutEffect, useState } from 'preact/hooks';
import { Chart } from './chart';
import { Outdated } from './client';
import { heat } from './colours';
import type { Context } from './context';
import { bytes, count, plural } from './format';
import { groupsOf } from './groups';
import type { Matrix, Pairs } from './protocol';
import type { Rows } from './save';
import { set, useShown } from './state';
import { Table } from './table';

const kMostCells = 128;
const kLeft = 70;
const kTop = 40;
const kSide = 620;

interface Square {
  row: number;
  column: number;
  size: number;
}
const kAll: Square = { row: 0, column: 0, size: 0 };

/** As the address has it: "225 0 150", from rank 225 to rank 0, 150 of each. */
function squareOf(text: string): Square {
  const match = /^(\d{1,8}) (\d{1,8}) (\d{1,8})$/.exec(text);
  return match ? { row: Number(match[1]), column: Number(match[2]), size: Number(match[3]) } : kAll;
}

function* rowsOf({ from, to, kind, communicator, messages, bytes, kinds, communicators }: Pairs): Rows {
  yield ['from', 'to', 'kind', 'communicator', 'messages', 'bytes'];
  for (let i = 0; i < from.length; ++i)
    yield [from[i]!, to[i]!, kinds[kind[i]!] ?? '', communicators[communicator[i]!] ?? '', messages[i]!, bytes[i]!];
}

export function MatrixView({ context }: { context: Context }) {
  const shown = useShown();
  const { client } = context;
  const [matrix, setMatrix] = useState<{ of: Matrix; at: Square } | null>(null);
  const [trouble, setTrouble] = useState('');
  const [tries, setTries] = useState(0);
  const at = squareOf(shown.text);
  const setAt = (square: Square) => set({ text: square.size === 0 ? '' : `${square.row} ${square.column} ${square.size}` }, true);
  const [kind, setKind] = useState('');
  const [communicator, setCommunicator] = useState('');
  const messages = shown.by === 'messages';
  const groups = client ? groupsOf(client.opened, shown) : null;
  useLayoutEffect(() => {
    if (!client) return;
    let alive = true;
    setTrouble('');
    client.ask('matrix', { groups, kind, communicator, chosen: shown.ranks, messages, ...at, cells: kMostCells }, true).then(
      (answer) => alive && setMatrix({ of: answer, at }),
      (error: Error) => alive && !(error instanceof Outdated) && setTrouble(error.message));
    return () => { alive = false; };
  }, [client, shown.fn, shown.site, shown.ranks, messages, kind, communicator, shown.text, tries]);
  if (!client) return <p class="busy">{context.trouble || 'The trace is being opened …'}</p>;
  if (trouble) return <p class="warn">{trouble} <button type="button" onClick={() => setTries(tries + 1)}>Again</button></p>;
  if (!matrix) return <p class="busy">Adding up messages …</p>;
  const { values, cells, block, size, ranks, sum, pairs, largest, kinds, communicators, collectives, unsized, nowhere } = matrix.of;
  const here = matrix.at;
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const text = (value: number) => (messages ? plural(value, 'message') : bytes(value));
  const ranksOf = (first: number) => {
    const last = Math.min(ranks, first + block) - 1;
    return last <= first ? `${first}` : `${first}-${last}`;
  };
  // On a wall screen as much larger as its text is.
  const side = Math.round((kSide * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 15);
  const cellSide = (width: number) => Math.min(side, width - kLeft - 20) / cells;
  const cellAt = (x: number, y: number, width: number): [number, number] | null => {
    const column = Math.floor((x - kLeft) / cellSide(width));
    const row = Math.floor((y - kTop) / cellSide(width));
    return row >= 0 && column >= 0 && row < cells && column < cells ? [row, column] : null;
  };
  /** Around a pair of ranks, `factor` times as many. */
  const zoom = (row: number, column: number, factor: number) => {
    const wanted = Math.max(Math.min(8, ranks), Math.min(ranks, Math.round(size * factor)));
    const place = (middle: number) => Math.max(0, Math.min(ranks - wanted, Math.round(middle - wanted / 2)));
    setAt(wanted >= ranks ? kAll : { row: place(row), column: place(column), size: wanted });
  };
  return (
    <>
      <div class="tools">
        <label>
          Shows{' '}
          <select value={messages ? 'messages' : 'bytes'} onChange={(event) => set({ by: event.currentTarget.value })}>
            <option value="bytes">bytes</option>
            <option value="messages">messages</option>
          </select>
        </label>
        {kinds.length > 1 && (
          <label>
            of{' '}
            <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              <option value="">all kinds</option>
              {kinds.map((one) => <option value={one}>{one}</option>)}
            </select>
          </label>
        )}
        {communicators.length > 1 && (
          <label>
            in{' '}
            <select value={communicator} onChange={(event) => setCommunicator(event.currentTarget.value)}>
              <option value="">all communicators</option>
              {communicators.map((one) => <option key={one} value={one}>{one}</option>)}
            </select>
          </label>
        )}
        <span>{text(sum)} between {plural(pairs, 'pair')} of ranks{shown.fn && `, ${shown.fn} ${shown.site}`}</span>
        <button type="button" aria-label="zoom in" onClick={() => zoom(here.row + size / 2, here.column + size / 2, 0.5)}>+</button>
        <button type="button" aria-label="zoom out" onClick={() => zoom(here.row + size / 2, here.column + size / 2, 2)}>−</button>
        {at.size > 0 && <button type="button" onClick={() => setAt(kAll)}>all ranks</button>}
      </div>
      <Chart
        name="matrix" height={kTop + side + 20}
        label={`Matrix of ${text(sum)} between ${plural(ranks, 'rank')}; the table below has the largest pairs`}
        csv={() => client.ask('pairs', { groups }).then(rowsOf)}
        draw={(surface, width, _height, ink) => {
          const one = cellSide(width);
          const wide = Math.max(0.7, one - (one > 6 ? 1 : 0));
          surface.rect(kLeft, kTop, one * cells, one * cells, ink.idle);
          for (let row = 0; row < cells; ++row) {
            for (let column = 0; column < cells; ++column) {
              const value = values[row * cells + column]!;
              if (value > 0) surface.rect(kLeft + column * one, kTop + row * one, wide, wide, heat(0.12 + (0.88 * Math.log1p(value)) / Math.log1p(most)));
            }
          }
          const every = Math.max(1, Math.ceil(30 / one));
          const digits = String(here.column + cells * block).length;
          const everyColumn = Math.max(1, Math.ceil((12 + 7 * digits) / one));
          for (let i = 0; i < cells; i += every)
            surface.text(kLeft - 8, kTop + (i + 0.5) * one, String(here.row + i * block), ink.faint, 'end', 11);
          for (let i = 0; i < cells; i += everyColumn) {
            surface.text(kLeft + (i + 0.5) * one, kTop - 10, String(here.column + i * block), ink.faint, 'middle', 11);
          }
          surface.text(kLeft, 10, `to rank →   (from rank ↓)${block > 1 ? `, blocks of ${block}` : ''}`, ink.text);
        }}
        tip={(x, y, width) => {
          const cell = cellAt(x, y, width);
          if (!cell) return null;
          const [row, column] = cell;
          return <>{ranksOf(here.row + row * block)} → {ranksOf(here.column + column * block)}: {text(values[row * cells + column]!)}{block > 1 && <><br />click to zoom</>}</>;
        }}
        handlers={{
          onClick: (event) => {
            const cell = cellAt(event.offsetX, event.offsetY, event.currentTarget.clientWidth);
            if (!cell) return;
            const [from, to] = [here.row + cell[0] * block, here.column + cell[1] * block];
            if (block === 1) set({ ranks: from === to ? String(from) : [from, to].sort((a, b) => a - b).join(',') });
            else zoom(from + block / 2, to + block / 2, 1 / 4);
          },
          onWheel: (event) => {
            const cell = cellAt(event.offsetX, event.offsetY, event.currentTarget.clientWidth);
            if (!cell) return;
            event.preventDefault();
            zoom(here.row + cell[0] * block, here.column + cell[1] * block, event.deltaY > 0 ? 1.5 : 1 / 1.5);
          },
        }}
      />
      {nowhere > 0 && <p class="note">Left out: {plural(nowhere, 'message or access', 'messages and accesses')} of which this trace does not say who takes part.</p>}
      {unsized > 0 && <p class="note">The bytes of {plural(unsized, 'message')} are not known.</p>}
      <h2>The largest pairs{at.size > 0 && ' among these'}</h2>
      <Table
        name="pairs" rows={largest}
        columns={[
          { name: 'from', value: (p) => p.from },
          { name: 'to', value: (p) => p.to },
          { name: 'bytes', value: (p) => p.bytes, show: (p) => bytes(p.bytes) },
          { name: 'messages', value: (p) => p.messages, show: (p) => count(p.messages) },
        ]}
        onPick={(p) => set({ ranks: p.from < p.to ? `${p.from},${p.to}` : p.from > p.to ? `${p.to},${p.from}` : `${p.from}` })}
      />
      {collectives.length > 0 && (
        <>
          <h2>Collective operations, which are not in the matrix</h2>
          <Table
            name="collectives" rows={collectives}
            columns={[
              { name: 'operation', value: (c) => c.operation },
              { name: 'communicator', value: (c) => c.communicator },
              { name: 'ranks', value: (c) => c.ranks, show: (c) => count(c.ranks) },
              { name: 'calls', value: (c) => c.calls, show: (c) => count(c.calls) },
              { name: 'bytes a rank and call', value: (c) => c.bytes_a_rank, show: (c) => bytes(c.bytes_a_rank) },
              { name: 'bytes', value: (c) => c.bytes, show: (c) => bytes(c.bytes) },
            ]}
          />
        </>
      )}
    </>
  );
}
