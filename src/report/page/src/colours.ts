// Colours that people of any colour vision can tell apart (Okabe and Ito's eight, then Tol's muted), on light and dark.

export const kSorts: Record<string, string> = {
  'outside MPI': 'var(--idle)',
  messages: '#0072b2',
  completion: '#e69f00',
  collective: '#009e73',
  'one-sided': '#cc79a7',
  files: '#56b4e9',
  init: '#999999',
  other: '#d55e00',
};

const kKinds = [
  '#0072b2', '#e69f00', '#009e73', '#d55e00', '#56b4e9', '#cc79a7', '#f0e442', '#332288',
  '#88ccee', '#44aa99', '#117733', '#999933', '#ddcc77', '#cc6677', '#882255', '#aa4499',
];

export const kRest = '#999999';

/** Of the n-th kind of a chart; kinds behind the last colour share one. */
export function colourOf(index: number): string {
  return kKinds[index] ?? kRest;
}

export function colourOfSort(name: string, index: number): string {
  return kSorts[name] ?? colourOf(index);
}

/** Whether the page is dark now: on paper it never is. */
export function isDark(): boolean {
  return matchMedia('(prefers-color-scheme: dark)').matches && !document.documentElement.classList.contains('paper');
}

type Stop = [number, number, number];
const kOnLight: Stop[] = [[236, 240, 245], [158, 202, 225], [66, 146, 198], [8, 81, 156], [62, 24, 92], [24, 6, 34]];
const kOnDark: Stop[] = [[44, 62, 80], [30, 94, 148], [46, 142, 190], [108, 192, 200], [196, 226, 176], [255, 250, 205]];

/** From nothing to all, away from the page's own colour: a ramp that is even in lightness and has no red against green. */
export function heat(part: number): string {
  const stops = isDark() ? kOnDark : kOnLight;
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const low = stops[Math.floor(at)]!;
  const high = stops[Math.min(stops.length - 1, Math.floor(at) + 1)]!;
  const mix = at - Math.floor(at);
  const channel = (i: 0 | 1 | 2) => Math.round(low[i] + (high[i] - low[i]) * mix);
  return `rgb(${channel(0)},${channel(1)},${channel(2)})`;
}

/** What a custom property of the style is now: canvases and pictures know no `var(…)`. */
export function resolved(colour: string): string {
  const match = /^var\((--[a-z-]+)\)$/.exec(colour);
  return match ? getComputedStyle(document.documentElement).getPropertyValue(match[1]!).trim() : colour;
}
