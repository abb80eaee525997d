// What a verb says, as nested tables: for answers that have no picture of their own.
import type { ComponentChildren } from 'preact';
import { Table } from './table';

type Json = unknown;

const isRecord = (value: Json): value is Record<string, Json> => typeof value === 'object' && value !== null && !Array.isArray(value);
const word = (name: string): string => name.replace(/_/g, ' ');

function text(value: Json): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(5)));
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

export function Fields({ value, name = '' }: { value: Json; name?: string }): ComponentChildren {
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    if (!value.every(isRecord)) return <p>{value.map(text).join(', ')}</p>;
    const rows = value as Record<string, Json>[];
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return (
      <Table<Record<string, Json>>
        name={name || 'values'} rows={rows}
        columns={names.map((field) => ({
          name: word(field),
          left: rows.some((row) => typeof row[field] !== 'number'),
          value: (row) => (typeof row[field] === 'number' ? (row[field] as number) : text(row[field])),
          show: (row) => text(row[field]),
        }))}
      />
    );
  }
  if (!isRecord(value)) return <>{text(value)}</>;
  const simple = Object.entries(value).filter(([, v]) => v === null || typeof v !== 'object');
  const nested = Object.entries(value).filter(([, v]) => v !== null && typeof v === 'object');
  return (
    <>
      {simple.length > 0 && (
        <table>
          <tbody>
            {simple.map(([field, v]) => (
              <tr key={field}><td class="left">{word(field)}</td><td>{text(v)}</td></tr>
            ))}
          </tbody>
        </table>
      )}
      {nested.map(([field, v]) => (
        <section key={field}>
          <h2>{word(field)}</h2>
          <Fields value={v} name={field} />
        </section>
      ))}
    </>
  );
}
