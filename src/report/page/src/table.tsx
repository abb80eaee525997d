// Table: sorted by the column that is clicked, filtered by a text, at most so many lines at a time, copied as CSV.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { count } from './format';
import { Take, useTold } from './take';

export interface Column<T> {
  name: string;
  /** What it is sorted by, and what CSV has. */
  value: (row: T) => number | string | null;
  /** What is shown, if that is something else. */
  show?: (row: T) => ComponentChildren;
  /** The part of a bar behind the number, 0 to 1. */
  bar?: (row: T) => number | null;
  left?: boolean;
  help?: string;
}

export interface TableProps<T> {
  name: string;
  rows: T[];
  columns: Column<T>[];
  /** Which column is sorted by at first, falling; by none: as the rows are. */
  sort?: number;
  further?: number | undefined;
  onPick?: (row: T) => void;
  picked?: (row: T) => boolean;
  page?: number;
  filter?: boolean;
}

export function Table<T>(props: TableProps<T>) {
  const [order, setOrder] = useState<{ column: number; rising: boolean } | null>(
    props.sort === undefined ? null : { column: props.sort, rising: false });
  const [shown, setShown] = useState(props.page ?? 25);
  const [needle, setNeedle] = useState('');
  const [said, tell] = useTold();
  const rows = useMemo(() => {
    let some = props.rows;
    if (needle !== '') {
      const low = needle.toLowerCase();
      some = some.filter((row) => props.columns.some((column) => String(column.value(row) ?? '').toLowerCase().includes(low)));
    }
    if (!order) return some;
    const value = props.columns[order.column]!.value;
    const sign = order.rising ? 1 : -1;
    return [...some].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
      return (x < y ? -1 : x > y ? 1 : 0) * sign;
    });
  }, [props.rows, props.columns, order, needle]);
  const csv = () => [props.columns.map((c) => c.name), ...rows.map((row) => props.columns.map((c) => c.value(row)))];
  return (
    <div class="table">
      {props.filter !== false && props.rows.length > 10 && (
        <input
          type="search" placeholder="filter" aria-label={`filter ${props.name}`} value={needle}
          onInput={(event) => setNeedle(event.currentTarget.value)}
        />
      )}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              {props.columns.map((column, i) => (
                <th
                  key={column.name} class={column.left ? 'left' : ''} title={column.help}
                  aria-sort={order?.column === i ? (order.rising ? 'ascending' : 'descending') : 'none'}
                >
                  <button
                    type="button"
                    onClick={() => setOrder(order?.column === i ? { column: i, rising: !order.rising } : { column: i, rising: !!column.left })}
                  >
                    {column.name}
                    {order?.column === i ? (order.rising ? ' ▴' : ' ▾') : ''}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, r) => (
              <tr
                key={r} class={props.picked?.(row) ? 'picked' : props.onPick ? 'pickable' : ''}
                tabIndex={props.onPick ? 0 : undefined}
                onClick={() => props.onPick?.(row)}
                onKeyDown={(event) => event.key === 'Enter' && props.onPick?.(row)}
              >
                {props.columns.map((column) => {
                  const part = column.bar?.(row);
                  return (
                    <td key={column.name} class={column.left ? 'left' : ''}>
                      {part !== null && part !== undefined && (
                        <span class="bar" style={{ width: `${Math.min(1, Math.max(0, part)) * 100}%` }} />
                      )}
                      <span class="cell">{column.show ? column.show(row) : column.value(row)}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="take">
        {rows.length > shown && (
          <button type="button" onClick={() => setShown(shown + 200)}>
            {count(rows.length - shown)} more
          </button>
        )}
        {props.further !== undefined && props.further > 0 && (
          <span>{count(props.further)} further ones are not in this page; the verb tells them</span>
        )}
        <Take name={props.name} csv={csv} said={said} tell={tell} />
      </div>
    </div>
  );
}
