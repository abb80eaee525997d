// What the page shows: the view, and what is selected. It is kept in the URL's fragment, so that a link to it shows the
// same, and Back goes back. All views read the one selection: that is how they are linked.
import { useEffect, useState } from 'preact/hooks';

export interface State {
  view: string;
  /** "0-3,8", or '' for all. */
  ranks: string;
  /** An MPI function; '' for all. */
  fn: string;
  /** A call site as the verbs print it, "main.c:12 in main()"; '' for all. */
  site: string;
  /** The window of time, in ns of the axis; null: the whole run. */
  from: number | null;
  to: number | null;
  /** What a view wants to remember for itself. */
  by: string;
  text: string;
  at: number | null;
}

/** More than any run has: 2^63. */
const kMostNs = 9.3e18;
const kEmpty: State = { view: 'overview', ranks: '', fn: '', site: '', from: null, to: null, by: '', text: '', at: null };

export function parsed(fragment: string): State {
  const [view, query] = fragment.replace(/^#/, '').split('?', 2);
  const words = new URLSearchParams(query ?? '');
  const number = (name: string): number | null => {
    const text = words.get(name);
    const value = text === null || text === '' ? NaN : Number(text);
    return Number.isFinite(value) && value >= 0 ? value : null;
  };
  const ranks = words.get('ranks') ?? '';
  const [from, to] = [number('from'), number('to')];
  const isStretch = (from === null || from <= kMostNs) && (to === null || to <= kMostNs) && (from === null || to === null || from < to);
  return {
    view: view || kEmpty.view,
    ranks: /^(\d{1,8}(-\d{1,8})?(,(?=\d)|$))*$/.test(ranks) ? ranks : '',
    fn: words.get('fn') ?? '',
    site: words.get('site') ?? '',
    from: isStretch ? from : null,
    to: isStretch ? to : null,
    by: words.get('by') ?? '',
    text: words.get('text') ?? '',
    at: number('at'),
  };
}

export function fragmentOf(state: State): string {
  const words = new URLSearchParams();
  for (const name of ['ranks', 'fn', 'site', 'from', 'to', 'by', 'text', 'at'] as const) {
    const value = state[name];
    if (value !== null && value !== '') words.set(name, String(value));
  }
  const query = words.toString();
  return `#${state.view}${query ? `?${query}` : ''}`;
}

let current = parsed(location.hash);
const listeners = new Set<() => void>();

addEventListener('hashchange', () => {
  const next = parsed(location.hash);
  if (fragmentOf(next) === fragmentOf(current)) return;
  current = next;
  listeners.forEach((listener) => listener());
});

export const state = (): State => current;

/** `quiet`: no step that Back would undo, for what changes while a hand moves. */
export function set(change: Partial<State>, quiet = false): void {
  current = { ...current, ...change };
  const fragment = fragmentOf(current);
  if (fragment !== location.hash) {
    // A page from a file may not change its history in some browsers: then the fragment itself is set.
    try {
      if (quiet) history.replaceState(null, '', fragment);
      else history.pushState(null, '', fragment);
    } catch {
      location.hash = fragment;
    }
  }
  listeners.forEach((listener) => listener());
}

export function go(view: string, change: Partial<State> = {}): void {
  set({ ...change, view, by: change.by ?? '', text: change.text ?? '', at: change.at ?? null });
}

export function clear(): void {
  set({ ...kEmpty, view: current.view, by: current.by });
}

export function useShown(): State {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return current;
}
