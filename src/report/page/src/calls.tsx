// Calls: each call of a rank in order, with its arguments, as the trace has it.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Context } from './context';
import { count, countOfRanks, plural, rangesOf, shortRanks, time } from './format';
import { linkTo } from './findings';
import { groupsOf } from './groups';
import type { CallRow, CallsPage } from './protocol';
import { set, useShown } from './state';
import { Take, useTold } from './take';

const kPage = 100;
const kWalk = 200000;

function withoutSite(text: string, site: string): string {
  return site !== '' && text.endsWith(site) ? text.slice(0, -site.length).trimEnd() : text;
}

export function Calls({ context }: { context: Context }) {
  const shown = useShown();
  const { client } = context;
  const first = rangesOf(shown.ranks)[0]?.[0] ?? rangesOf(client?.opened.ranks ?? '0')[0]?.[0] ?? 0;
  const [rows, setRows] = useState<CallRow[]>([]);
  const [next, setNext] = useState<number | null>(null);
  const [busy, setBusy] = useState('');
  const [trouble, setTrouble] = useState('');
  const [said, tell] = useTold();
  const [open, setOpen] = useState<number | null>(null);
  const stopped = useRef(false);
  const groups = client ? groupsOf(client.opened, shown) : null;
  const [begin, setBegin] = useState(shown.at ?? 0);

  useEffect(() => {
    if (!client) return;
    let alive = true;
    setRows([]);
    setTrouble('');
    void firstCall().then((call) => {
      if (!alive) return;
      setBegin(call);
      void fill(call, [], () => alive);
    });
    return () => { alive = false; };
  }, [client, first, shown.fn, shown.site, shown.text, shown.at, shown.from]);

  /** The call that was asked for, or the first of the stretch that is selected. */
  async function firstCall(): Promise<number> {
    if (shown.at !== null || shown.from === null || !client?.opened.timed) return shown.at ?? 0;
    return client.ask('callAt', { rank: first, ns: shown.from }).then((call) => call ?? 0, () => 0);
  }

  // Looks on until a page is full: what is rare is far apart.
  async function fill(from: number, have: CallRow[], alive: () => boolean): Promise<void> {
    if (!client) return;
    let at: number | null = from;
    let all = have;
    const wanted = have.length + kPage;
    try {
      stopped.current = false;
      while (at !== null && all.length < wanted && alive() && !stopped.current) {
        setBusy(`looking at call ${count(at)} …`);
        const page: CallsPage = await client.ask('calls', { rank: first, thread: null, from: at, most: wanted - all.length, groups, text: shown.text, walk: kWalk });
        if (!alive()) return;
        all = [...all, ...page.rows];
        at = page.next;
        setRows(all);
        setNext(at);
      }
    } catch (error) {
      if (alive()) setTrouble((error as Error).message);
    }
    if (alive()) setBusy('');
  }
  if (!client) return <p class="busy">{context.trouble || 'The trace is being opened …'}</p>;
  const timed = rows.some((row) => row.begin !== null);
  return (
    <>
      <div class="tools">
        <label>
          Rank{' '}
          <input
            type="number" min={0} value={first} style={{ width: '6em' }}
            onChange={(event) => set({ ranks: /^\d+$/.test(event.currentTarget.value) ? event.currentTarget.value : '', at: null })}
          />
        </label>
        <label>
          with{' '}
          <input
            id="search" type="search" placeholder="text in the call" value={shown.text}
            onChange={(event) => set({ text: event.currentTarget.value })}
          />
        </label>
        <label>
          from call{' '}
          <input type="number" min={0} value={begin} style={{ width: '9em' }} onChange={(event) => set({ at: Number(event.currentTarget.value) || null })} />
        </label>
        {countOfRanks(shown.ranks) > 1 && <span class="faint">of ranks {shortRanks(shown.ranks)}, one at a time</span>}
        <span class="busy" role="status">{busy}</span>
        {busy && <button type="button" onClick={() => { stopped.current = true; }}>stop</button>}
      </div>
      {trouble && <p class="warn">{trouble}</p>}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>call</th>
              {timed && <><th>begins</th><th>takes</th><th>after</th></>}
              <th class="left">call</th>
              <th class="left">where</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const group = client.opened.groups[row.group];
              return (
                <tr key={`${row.thread}.${row.index}`} class={row.index === shown.at ? 'picked' : ''}>
                  <td>{row.thread ? `${row.thread}:` : ''}{count(row.index)}</td>
                  {timed && <><td>{time(row.begin)}</td><td>{time(row.took)}</td><td class="faint">{time(row.gap)}</td></>}
                  <td class={`left mono ${open === row.index ? 'whole' : ''}`} title={row.text} onClick={() => setOpen(open === row.index ? null : row.index)}>
                    {withoutSite(row.text, group?.site ?? '')}
                  </td>
                  <td class="left">
                    {group && <a href={linkTo('calls', { fn: group.fn, site: group.site, at: null })} title="only calls of this site">{group.site}</a>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div class="take">
        {rows.length === 0 && !busy && !trouble && <span>no such call</span>}
        {next !== null && !busy && !trouble && (
          <button type="button" onClick={() => void fill(next, rows, () => true)}>{plural(kPage, 'more call')}</button>
        )}
        <Take
          name="calls" said={said} tell={tell}
          csv={() => [['rank', 'thread', 'call', 'begin', 'took', 'gap', 'text'],
            ...rows.map((row) => [first, row.thread, row.index, row.begin, row.took, row.gap, row.text])]}
        />
      </div>
    </>
  );
}
