// Numbers, times and lists of ranks as people read them: the same words that the verbs print.

const kBytes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** "29,008"; of large numbers "1.2e12". */
export function count(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1e15) return value.toExponential(2);
  return (Number.isInteger(value) ? value : Number(value.toPrecision(4))).toLocaleString('en-US');
}

function three(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** "1.23 ms" */
export function time(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const size = Math.abs(seconds);
  if (size === 0) return '0';
  if (size < 999.5e-9) return `${three(seconds * 1e9)} ns`;
  if (size < 999.5e-6) return `${three(seconds * 1e6)} µs`;
  if (size < 0.9995) return `${three(seconds * 1e3)} ms`;
  if (size < 600) return `${three(seconds)} s`;
  if (size < 36000) return `${three(seconds / 60)} min`;
  return `${three(seconds / 3600)} h`;
}

export const timeOfNs = (ns: number): string => time(ns / 1e9);

/** A moment, as exactly as one among others that are `step` apart: "530.25 ms". */
export function momentOfNs(ns: number, step: number): string {
  const [size, unit]: [number, string] = ns >= 1e9 ? [1e9, 's'] : ns >= 1e6 ? [1e6, 'ms'] : ns >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(1e-9, step)) - 1e-9)));
  return ns === 0 ? '0' : `${(ns / size).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  let unit = 0;
  while (value >= 1023.5 && unit + 1 < kBytes.length) {
    value /= 1024;
    ++unit;
  }
  return unit === 0 ? `${count(value)} B` : `${three(value)} ${kBytes[unit]}`;
}

export function percent(part: number | null | undefined): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return '–';
  return `${(part * 100).toFixed(1)} %`;
}

export function plural(many: number, one: string, several = `${one}${/(s|x|ch|sh)$/.test(one) ? 'es' : 's'}`): string {
  return `${count(many)} ${many === 1 ? one : several}`;
}

/** A set of ranks as the verbs write it, "0-3,8", which is also how the page keeps it. */
export function rangesOf(ranks: string): [number, number][] {
  const found: [number, number][] = [];
  for (const part of ranks.split(',')) {
    const match = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (last >= first) found.push([first, last]);
  }
  return found;
}

export function rangesText(ranges: [number, number][]): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

export function countOfRanks(ranks: string): number {
  return rangesOf(ranks).reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** A list that is too long for a line: its beginning, and how many there are. */
export function shortRanks(ranks: string, most = 28): string {
  if (ranks.length <= most) return ranks;
  const cut = ranks.lastIndexOf(',', most);
  return cut > 0 ? `${ranks.slice(0, cut)}, … (${count(countOfRanks(ranks))})` : ranks.slice(0, most) + '…';
}
