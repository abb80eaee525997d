// Communication matrix: who sends how much to whom, from blocks of ranks to single pairs.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Chart } from './chart';
import { heat } from './colours';
import type { Context } from './context';
import { bytes, count, plural } from './format';
import { groupsOf } from './groups';
import type { Matrix } from './protocol';
import { set, useShown } from './state';
import { Table } from './table';

const kMostCells = 128;
const kLeft = 70;
const kTop = 40;

interface Window {
  row: number;
  column: number;
  size: number;
}

export function MatrixView({ context }: { context: Context }) {
  const shown = useShown();
  const { client } = context;
  const [matrix, setMatrix] = useState<Matrix | null>(null);
  const [trouble, setTrouble] = useState('');
  const [window, setWindow] = useState<Window | null>(null);
  const groups = client ? groupsOf(client.opened, shown) : null;
  useEffect(() => {
    if (!client) return;
    let alive = true;
    client.ask('matrix', { groups }, true).then((answer) => alive && setMatrix(answer), (error: Error) => alive && setTrouble(error.message));
    return () => { alive = false; };
  }, [client, shown.fn, shown.site]);
  const messages = shown.by === 'messages';
  const size = useMemo(() => {
    let most = 0;
    if (matrix) for (let i = 0; i < matrix.from.length; ++i) most = Math.max(most, matrix.from[i]! + 1, matrix.to[i]! + 1);
    return Math.max(most, 1 + Math.max(0, ...(client?.opened.ranks.match(/\d+/g)?.map(Number) ?? [0])));
  }, [matrix, client]);
  const at = window ?? { row: 0, column: 0, size };
  const cells = Math.min(kMostCells, at.size);
  const block = Math.ceil(at.size / cells);
  const sums = useMemo(() => {
    const values = new Float64Array(cells * cells);
    let whole = 0;
    let all = 0;
    if (matrix) {
      const of = messages ? matrix.messages : matrix.bytes;
      for (let i = 0; i < matrix.from.length; ++i) {
        all += of[i]!;
        const row = Math.floor((matrix.from[i]! - at.row) / block);
        const column = Math.floor((matrix.to[i]! - at.column) / block);
        if (row < 0 || column < 0 || row >= cells || column >= cells) continue;
        values[row * cells + column]! += of[i]!;
        whole += of[i]!;
      }
    }
    return { values, whole, all, most: values.reduce((a, b) => Math.max(a, b), 0) };
  }, [matrix, messages, at.row, at.column, at.size]);
  const pairs = useMemo(() => {
    if (!matrix) return [];
    const of = messages ? matrix.messages : matrix.bytes;
    const order = Array.from(matrix.from.keys()).sort((a, b) => of[b]! - of[a]!);
    return order.slice(0, 1000).map((i) => ({ from: matrix.from[i]!, to: matrix.to[i]!, messages: matrix.messages[i]!, bytes: matrix.bytes[i]! }));
  }, [matrix, messages]);
  if (!client) return <p class="busy">{context.trouble || 'The trace is being opened …'}</p>;
  if (trouble) return <p class="warn">{trouble}</p>;
  if (!matrix) return <p class="busy">Adding up messages …</p>;
  const text = (value: number) => (messages ? plural(value, 'message') : bytes(value));
  const ranks = (first: number) => (block === 1 ? `${first}` : `${first}-${Math.min(size, first + block) - 1}`);
  const side = (width: number) => Math.min(620, width - kLeft - 20);
  const cellAt = (x: number, y: number, width: number): [number, number] | null => {
    const one = side(width) / cells;
    const column = Math.floor((x - kLeft) / one);
    const row = Math.floor((y - kTop) / one);
    return row >= 0 && column >= 0 && row < cells && column < cells ? [row, column] : null;
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
        <span>{text(sums.all)} between {plural(matrix.from.length, 'pair')} of ranks{shown.fn && `, ${shown.fn} ${shown.site}`}</span>
        {window && <button type="button" onClick={() => setWindow(null)}>all ranks</button>}
        {window && <button type="button" onClick={() => setWindow(zoomed(at, size, at.row + at.size / 2, at.column + at.size / 2, 4))}>zoom out</button>}
      </div>
      <Chart
        name="matrix" height={kTop + 640}
        label={`Matrix of ${text(sums.all)}; the table below has the largest pairs`}
        csv={() => [['from', 'to', 'messages', 'bytes'], ...Array.from(matrix.from, (rank, i) => [rank, matrix.to[i]!, matrix.messages[i]!, matrix.bytes[i]!])]}
        draw={(surface, width, _height, ink) => {
          const one = side(width) / cells;
          surface.rect(kLeft, kTop, one * cells, one * cells, ink.idle);
          for (let row = 0; row < cells; ++row) {
            for (let column = 0; column < cells; ++column) {
              const value = sums.values[row * cells + column]!;
              if (value > 0) surface.rect(kLeft + column * one, kTop + row * one, Math.max(0.7, one - (one > 6 ? 1 : 0)), Math.max(0.7, one - (one > 6 ? 1 : 0)), heat(0.12 + 0.88 * Math.log1p(value) / Math.log1p(sums.most)));
            }
          }
          const every = Math.max(1, Math.ceil(26 / one));
          for (let i = 0; i < cells; i += every) {
            surface.text(kLeft - 8, kTop + (i + 0.5) * one, String(at.row + i * block), ink.faint, 'end', 11);
            surface.text(kLeft + (i + 0.5) * one, kTop - 10, String(at.column + i * block), ink.faint, 'middle', 11);
          }
          surface.text(kLeft, 10, `to rank →   (from rank ↓)${block > 1 ? `, blocks of ${block}` : ''}`, ink.text);
        }}
        tip={(x, y, width) => {
          const cell = cellAt(x, y, width);
          if (!cell) return null;
          const [row, column] = cell;
          return <>{ranks(at.row + row * block)} → {ranks(at.column + column * block)}: {text(sums.values[row * cells + column]!)}{block > 1 && <><br />click to zoom</>}</>;
        }}
        handlers={{
          onClick: (event) => {
            const cell = cellAt(event.offsetX, event.offsetY, event.currentTarget.clientWidth);
            if (!cell) return;
            const [row, column] = cell;
            if (block === 1) set({ ranks: row + at.row === column + at.column ? String(at.row + row) : [at.row + row, at.column + column].sort((a, b) => a - b).join(',') });
            else setWindow(zoomed(at, size, at.row + (row + 0.5) * block, at.column + (column + 0.5) * block, 1 / 4));
          },
          onWheel: (event) => {
            const cell = cellAt(event.offsetX, event.offsetY, event.currentTarget.clientWidth);
            if (!cell) return;
            event.preventDefault();
            setWindow(zoomed(at, size, at.row + cell[0] * block, at.column + cell[1] * block, event.deltaY > 0 ? 1.5 : 1 / 1.5));
          },
        }}
      />
      <Table
        name="pairs" rows={pairs}
        columns={[
          { name: 'from', value: (p) => p.from },
          { name: 'to', value: (p) => p.to },
          { name: 'bytes', value: (p) => p.bytes, show: (p) => bytes(p.bytes) },
          { name: 'messages', value: (p) => p.messages, show: (p) => count(p.messages) },
        ]}
        onPick={(p) => set({ ranks: p.from < p.to ? `${p.from},${p.to}` : p.from > p.to ? `${p.to},${p.from}` : `${p.from}` })}
      />
    </>
  );
}

/** Around a pair of ranks, `factor` times as many; null where that is all. */
function zoomed(at: Window, size: number, row: number, column: number, factor: number): Window | null {
  const wanted = Math.max(Math.min(8, size), Math.min(size, Math.round(at.size * factor)));
  if (wanted >= size) return null;
  const place = (middle: number) => Math.max(0, Math.min(size - wanted, Math.round(middle - wanted / 2)));
  return { row: place(row), column: place(column), size: wanted };
}
