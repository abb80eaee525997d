// Functions and call sites: how often, how long, how unevenly.
import type { Context } from './context';
import { refusal, told, type SummaryLine } from './facts';
import { bytes, count, percent, time } from './format';
import { go, set, useShown } from './state';
import { Table, type Column } from './table';

interface RawSite {
  file?: string | null;
  line?: number | null;
  function?: string;
  module?: string;
  offset?: number;
}

/** "void exchange<int>" of "void exchange<int>(int, float)", as the reader has it (without_parameters of
 * src/analyze/sources.cc). */
export function withoutParameters(name: string): string {
  let depth = 0; // of what may have brackets of its own: arguments of templates, {lambda(int)#1}
  for (let i = 0; i < name.length;) {
    const unnamed = name.startsWith('(anonymous namespace)', i);
    const operator = unnamed ? null : /^operator(\(\))?[<>=-]*/.exec(name.slice(i, i + 16));
    if (unnamed) i += '(anonymous namespace)'.length;
    else if (operator) i += operator[0].length;
    else {
      const letter = name[i]!;
      if (letter === '(' && depth === 0 && i !== 0) return name.slice(0, i);
      if (letter === '<' || letter === '{') ++depth;
      if (letter === '>' || letter === '}') --depth;
      ++i;
    }
  }
  return name;
}

/** "main()" of "main"; what is no function but a part of a script stays as it is. */
function called(name: string): string {
  const bracket = name.endsWith('>') ? name.lastIndexOf('<') : -1;
  return name.endsWith(')') || bracket === 0 || (bracket > 0 && name[bracket - 1] === '.') ? name : `${name}()`;
}

/** "main.c:12 in main()", as the verbs print it and the reader names it. */
export function siteText(line: { site?: unknown }): string {
  const site = line.site as RawSite | string | null | undefined;
  if (!site) return '';
  if (typeof site === 'string') return site;
  const file = site.file ? site.file.slice(site.file.lastIndexOf('/') + 1) : '';
  const place = file ? `${file}:${site.line ?? 0}` : site.module ? `${site.module}+0x${(site.offset ?? 0).toString(16)}` : '';
  return place && site.function ? `${place} in ${called(withoutParameters(site.function))}` : place;
}

export function fileAndLine(line: SummaryLine): { file: string; line: number } | null {
  const site = line.site as unknown as RawSite | null | undefined;
  return site && typeof site === 'object' && site.file && site.line ? { file: site.file, line: site.line } : null;
}

const kNumbers: Column<SummaryLine>[] = [
  { name: 'calls', value: (l) => l.calls, show: (l) => count(l.calls) },
  { name: 'time', value: (l) => l.seconds, show: (l) => time(l.seconds) },
  { name: '% of MPI', value: (l) => l.share_of_mpi, show: (l) => percent(l.share_of_mpi), bar: (l) => l.share_of_mpi },
  { name: 'mean', value: (l) => l.mean_seconds, show: (l) => time(l.mean_seconds) },
  { name: 'median', value: (l) => l.median_seconds, show: (l) => time(l.median_seconds) },
  { name: '95 %', value: (l) => l.p95_seconds, show: (l) => time(l.p95_seconds) },
  { name: '99 %', value: (l) => l.p99_seconds, show: (l) => time(l.p99_seconds) },
  { name: 'longest', value: (l) => l.max_seconds, show: (l) => time(l.max_seconds) },
  { name: 'bytes', value: (l) => l.bytes, show: (l) => bytes(l.bytes) },
  { name: 'imbalance', value: (l) => l.imbalance, show: (l) => (l.imbalance === null ? '–' : l.imbalance.toFixed(2)),
    help: 'time of the rank with most, over the mean of the ranks that make such calls' },
  { name: 'most on', value: (l) => l.most?.rank ?? null, show: (l) => (l.most ? `rank ${l.most.rank}` : '–') },
  { name: 'ranks', value: (l) => l.ranks, show: (l) => count(l.ranks) },
  { name: 'failed', value: (l) => l.failed, show: (l) => (l.failed ? <span class="warn">{count(l.failed)}</span> : '') },
];

export function Sites({ context }: { context: Context }) {
  const shown = useShown();
  const functions = told(context.trace.summary);
  const sites = told(context.trace.callsites);
  const wanted = (sites?.lines ?? []).filter((line) => shown.fn === '' || line.function === shown.fn);
  return (
    <>
      <h2>Functions</h2>
      {functions ? (
        <Table
          name="functions" rows={functions.lines} further={functions.lines_further}
          columns={[{ name: 'function', left: true, value: (l) => l.function }, ...kNumbers]}
          onPick={(line) => set({ fn: line.function === shown.fn ? '' : line.function, site: '' })}
          picked={(line) => line.function === shown.fn}
        />
      ) : <p class="warn">{refusal(context.trace.summary)}</p>}
      <h2>Call sites{shown.fn && ` of ${shown.fn}`}</h2>
      {sites ? (
        <Table
          name="call-sites" rows={wanted} further={sites.lines_further}
          columns={[
            { name: 'function', left: true, value: (l) => l.function },
            { name: 'where', left: true, value: siteText },
            ...kNumbers,
          ]}
          onPick={(line) => {
            const same = line.function === shown.fn && siteText(line) === shown.site;
            set({ fn: same ? '' : line.function, site: same ? '' : siteText(line) });
          }}
          picked={(line) => line.function === shown.fn && siteText(line) === shown.site}
        />
      ) : <p class="warn">{refusal(context.trace.callsites)}</p>}
      {shown.site !== '' && (
        <p>
          <button type="button" onClick={() => go('calls')}>Its calls</button>{' '}
          <button type="button" onClick={() => go('timeline')}>On the timeline</button>{' '}
          <button type="button" onClick={() => go('matrix')}>Its messages</button>{' '}
          <button type="button" onClick={() => go('source')}>Its source</button>
        </p>
      )}
    </>
  );
}
