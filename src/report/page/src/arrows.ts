// Arrows: messages on the timeline, from the begin of the call that sent one to the end of the one that completed its
// receive.
import type { Messages } from './protocol';
import type { Surface } from './surface';

/** No more calls are gone through for them: 2 million take some seconds. Of a longer run a part is shown. */
export const kMostCallsMatched = 2e6;
export const kMostInPart = 1e5;
const kMostDrawn = 600;
const kMostHeads = 200;
const kNear = 4;

export interface Arrows {
  /** Of messages; none if there are more than can be told apart. */
  shown: number[];
  /** In the window, between ranks that are on the screen. */
  count: number;
}

/** Cost: the messages. */
export function arrowsIn(messages: Messages, rows: Map<number, number>, from: number, to: number): Arrows {
  const shown: number[] = [];
  let count = 0;
  for (let i = 0; i < messages.from.length; ++i) {
    if (messages.end[i]! < from || messages.begin[i]! > to) continue;
    if (!rows.has(messages.from[i]!) || !rows.has(messages.to[i]!)) continue;
    if (++count <= kMostDrawn) shown.push(i);
  }
  return { shown: count <= kMostDrawn ? shown : [], count };
}

interface Line {
  message: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Of what is shown, where `x` and `y` have times and rows, between the edges `left` and `right`. */
export function linesOf(
  messages: Messages, arrows: Arrows, rows: Map<number, number>, x: (ns: number) => number, y: (row: number) => number,
  left: number, right: number,
): Line[] {
  return arrows.shown.map((message) => {
    const [begin, end] = [x(messages.begin[message]!), x(messages.end[message]!)];
    const [top, bottom] = [y(rows.get(messages.from[message]!)!), y(rows.get(messages.to[message]!)!)];
    const at = (edge: number) => top + ((bottom - top) * (edge - begin)) / Math.max(1e-9, end - begin);
    return {
      message,
      x1: Math.max(left, begin),
      y1: begin < left ? at(left) : top,
      x2: Math.min(right, end),
      y2: end > right ? at(right) : bottom,
    };
  });
}

export function drawArrows(surface: Surface, lines: Line[], colour: string, right: number): void {
  for (const { x1, y1, x2, y2 } of lines) {
    surface.line(x1, y1, x2, y2, colour);
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (lines.length > kMostHeads || length < 8 || x2 >= right) continue;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    surface.line(x2, y2, x2 - 7 * dx + 3 * dy, y2 - 7 * dy - 3 * dx, colour);
    surface.line(x2, y2, x2 - 7 * dx - 3 * dy, y2 - 7 * dy + 3 * dx, colour);
  }
}

/** The message whose line is next to that point, if one is near. */
export function nearest(lines: Line[], x: number, y: number): number | null {
  let best: number | null = null;
  let least = kNear;
  for (const { message, x1, y1, x2, y2 } of lines) {
    const square = (x2 - x1) ** 2 + (y2 - y1) ** 2;
    const part = square === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / square));
    const distance = Math.hypot(x - x1 - part * (x2 - x1), y - y1 - part * (y2 - y1));
    if (distance < least) [least, best] = [distance, message];
  }
  return best;
}
