// App: the head of the page, the selection, and the view that is shown.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Calls } from './calls';
import { CheckView } from './check';
import { Client } from './client';
import type { Context } from './context';
import { DiffView } from './diff';
import { told, type Facts } from './facts';
import { linkTo } from './findings';
import { GpuView } from './gpu';
import { count, shortRanks, momentOfNs } from './format';
import { Loops } from './loops';
import { MatrixView } from './matrix';
import { Overview } from './overview';
import { RanksView } from './ranks';
import { Sites } from './sites';
import { Sizes } from './sizes';
import { SourceView } from './source';
import { clear, go, set, useShown } from './state';
import { Timeline } from './timeline';
import { WaitsView } from './waits';

const kViews: [string, string][] = [
  ['overview', 'Overview'], ['timeline', 'Timeline'], ['matrix', 'Matrix'], ['loops', 'Loops'], ['sites', 'Call sites'],
  ['sizes', 'Message sizes'], ['ranks', 'Ranks'], ['waits', 'Waits'], ['check', 'Faults'], ['source', 'Source'],
  ['calls', 'Calls'], ['gpu', 'GPU'], ['diff', 'Diff'],
];

function Help({ close }: { close: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <div class="dialog" role="dialog" aria-modal="true" aria-label="Help" onClick={close} onKeyDown={(event) => {
      if (event.key === 'Escape') close();
      if (event.key === 'Tab') event.preventDefault(); // there is one button
    }}>
      <div onClick={(event) => event.stopPropagation()}>
        <h2>Keys</h2>
        <dl>
          <dt>1 … 9</dt><dd>the views, in their order</dd>
          <dt>/</dt><dd>search for a text in calls</dd>
          <dt>W S, ↑ ↓</dt><dd>on the timeline: zoom in and out</dd>
          <dt>A D, ← →</dt><dd>on the timeline: earlier and later</dd>
          <dt>0, Home</dt><dd>on the timeline: the whole run</dd>
          <dt>X</dt><dd>select nothing</dd>
          <dt>?</dt><dd>this help; Escape closes it</dd>
        </dl>
        <p>What is selected stays selected from view to view. The timeline, the matrix, loops, call sites and calls show that
          part: of functions and call sites all five, of ranks the timeline, the matrix and calls, of a stretch of time the
          timeline, and calls from there on. The other views are of the whole run. The address of the page holds the
          selection: a link to it shows the same.</p>
        <p>This page is one file. It loads nothing and sends nothing; the trace is in it.</p>
        <button type="button" ref={ref} onClick={close}>Close</button>
      </div>
    </div>
  );
}

export function App({ facts }: { facts: Facts }) {
  const shown = useShown();
  const [client, setClient] = useState<Client | null>(null);
  const [trouble, setTrouble] = useState('');
  const [help, setHelp] = useState(false);
  const [doing, setDoing] = useState('');
  useEffect(() => {
    // After the first picture: opening a large trace takes a while.
    requestAnimationFrame(() => setTimeout(() => {
      Client.open(0).then((opened) => {
        // What is done at once needs no word.
        let later: ReturnType<typeof setTimeout> | undefined;
        opened.onBusy = (what) => {
          const main = document.getElementById('main');
          if (main) main.dataset['busy'] = what ? 'yes' : 'no';
          clearTimeout(later);
          if (what) later = setTimeout(() => setDoing(what), 700);
          else setDoing('');
        };
        setClient(opened);
      }, (error: Error) => setTrouble(`The trace cannot be read: ${error.message}.`));
    }));
  }, []);
  const trace = facts.traces[0]!;
  const context: Context = { facts, trace, client, trouble };
  const gpu = told(trace.gpu);
  const views = useMemo(() => kViews.filter(([id]) =>
    (id !== 'gpu' || gpu !== null) && (id !== 'diff' || facts.traces.length > 1) && (id !== 'source' || trace.sources.length > 0)), [facts]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape') setHelp(false);
      if (document.querySelector('[role=dialog]')) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      const number = Number(event.key);
      if (event.key === '?') setHelp(true);
      else if (event.key === '/') {
        go('calls');
        setTimeout(() => document.getElementById('search')?.focus());
        event.preventDefault();
      } else if (event.key.toLowerCase() === 'x') clear();
      else if (number >= 1 && views[number - 1]) go(views[number - 1]![0]);
      else if (/^([wasd]|Arrow.*)$/i.test(event.key) && target.tagName !== 'CANVAS') {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas[tabindex="0"]');
        if (!canvas) return;
        canvas.focus();
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key: event.key }));
        event.preventDefault();
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [views]);
  useEffect(() => {
    const paper = (on: boolean) => () => {
      document.documentElement.classList.toggle('paper', on);
      dispatchEvent(new Event('cairn-colours'));
    };
    const [before, after] = [paper(true), paper(false)];
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);
  const info = told(trace.info);
  const name = info?.command ?? trace.file;
  const known = views.some(([id]) => id === shown.view);
  const view = known ? shown.view : 'overview';
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>to the view</a>
      <header class="top">
        <h1 title={name}>{name}</h1>
        {info && <span class="what">{count(info.ranks)} ranks, {count(info.calls)} calls{/^\d/.test(info.start) && `, ${info.start.slice(0, 10)}`}</span>}
        <nav aria-label="views">
          {views.map(([id, title]) => (
            <a key={id} href={linkTo(id)} aria-current={id === view ? 'page' : undefined}>{title}</a>
          ))}
          <button type="button" aria-label="help" onClick={() => setHelp(true)}>?</button>
        </nav>
      </header>
      <div class="chosen" role="status">
        {shown.ranks !== '' && <span class="chip">ranks {shortRanks(shown.ranks)}<button type="button" aria-label="all ranks" onClick={() => set({ ranks: '' })}>×</button></span>}
        {shown.fn !== '' && <span class="chip">{shown.fn}<button type="button" aria-label="all functions" onClick={() => set({ fn: '', site: '' })}>×</button></span>}
        {shown.site !== '' && <span class="chip">{shown.site}<button type="button" aria-label="all sites" onClick={() => set({ site: '' })}>×</button></span>}
        {shown.from !== null && shown.to !== null && (
          <span class="chip">{momentOfNs(shown.from, (shown.to - shown.from) / 10)} to {momentOfNs(shown.to, (shown.to - shown.from) / 10)}<button type="button" aria-label="the whole run" onClick={() => set({ from: null, to: null })}>×</button></span>
        )}
        {trouble && <span class="warn">{trouble}</span>}
        {doing && client && (
          <span class="doing">The reader is {doing} … <button type="button" onClick={() => client.stop()}>Stop</button></span>
        )}
      </div>
      <main id="main" tabIndex={-1} data-view={view} data-open={client ? 'yes' : trouble ? 'failed' : 'no'}>
        {view === 'overview' && <Overview context={context} />}
        {view === 'timeline' && <Timeline context={context} />}
        {view === 'matrix' && <MatrixView context={context} />}
        {view === 'loops' && <Loops context={context} />}
        {view === 'sites' && <Sites context={context} />}
        {view === 'sizes' && <Sizes context={context} />}
        {view === 'ranks' && <RanksView context={context} />}
        {view === 'waits' && <WaitsView context={context} />}
        {view === 'check' && <CheckView context={context} />}
        {view === 'source' && <SourceView context={context} />}
        {view === 'calls' && <Calls context={context} />}
        {view === 'gpu' && <GpuView context={context} />}
        {view === 'diff' && <DiffView context={context} />}
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}
