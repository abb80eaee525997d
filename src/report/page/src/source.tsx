// The program's sources where it calls MPI, with what each line cost.
import { useEffect, useRef } from 'preact/hooks';
import type { Context } from './context';
import { told, type SummaryLine } from './facts';
import { percent, plural, time } from './format';
import { fileAndLine, siteText } from './sites';
import { set, useShown } from './state';

export function SourceView({ context }: { context: Context }) {
  const shown = useShown();
  const here = useRef<HTMLDivElement>(null);
  useEffect(() => here.current?.scrollIntoView({ block: 'center' }), [shown.site]);
  const sites = told(context.trace.callsites);
  const files = context.trace.sources;
  if (files.length === 0)
    return <p>No source is in this page: the files were not at hand where it was written, or <code>--no-sources</code> was said.</p>;
  const lines = new Map<string, SummaryLine[]>();
  for (const line of sites?.lines ?? []) {
    const place = fileAndLine(line);
    if (!place) continue;
    const key = `${place.file}:${place.line}`;
    lines.set(key, [...(lines.get(key) ?? []), line]);
  }
  let seen = false;
  return (
    <>
      {files.map((file) => (
        <section key={`${file.file}:${file.first}`}>
          <h2>{file.file.slice(file.file.lastIndexOf('/') + 1)} <span class="faint">{file.file}</span></h2>
          {file.changed && <p class="warn">This file was changed after the run: its lines may not be those that ran.</p>}
          <div class="source">
            {file.lines.map((text, i) => {
              const number = file.first + i;
              const called = lines.get(`${file.file}:${number}`);
              const picked = called?.some((line) => siteText(line) === shown.site) ?? false;
              const first = picked && !seen;
              if (first) seen = true;
              const share = called?.reduce((sum, line) => sum + (line.share_of_mpi ?? 0), 0) ?? 0;
              const seconds = called?.reduce((sum, line) => sum + (line.seconds ?? 0), 0) ?? 0;
              const calls = called?.reduce((sum, line) => sum + line.calls, 0) ?? 0;
              return (
                <div
                  key={number} ref={first ? here : null} class={picked ? 'called here' : called ? 'called' : ''}
                  title={called?.map((line) => `${line.function}: ${plural(line.calls, 'call')}, ${time(line.seconds)}`).join('\n')}
                  onClick={() => called && set({ site: siteText(called[0]!), fn: called.length === 1 ? called[0]!.function : '' })}
                >
                  <span class="heat">
                    {called && (seconds > 0 ? <span style={{ background: `color-mix(in srgb, var(--bar) ${Math.round(Math.min(1, 0.15 + share) * 100)}%, transparent)` }}>{time(seconds)} {percent(share)}</span> : plural(calls, 'call'))}
                  </span>
                  <span class="no">{number}</span>
                  <span>{text}</span>
                </div>
              );
            })}
          </div>
        </section>
      ))}
    </>
  );
}
