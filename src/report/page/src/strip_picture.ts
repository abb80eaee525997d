// The columns of a strip as a picture of pixels, painted once for each strip: hundreds of thousands of rectangles take
// a tenth of a second, and a page draws at each move of the pointer.
import type { Strip } from './protocol';

/** Kinds by number: those above come first, and those that the strip has nothing of are not in the order. */
export interface Palette {
  colours: string[];
  order: number[];
}

/** A pixel as canvases keep it, little-endian. */
function pixelOf(colour: string, context: CanvasRenderingContext2D): number {
  context.fillStyle = colour;
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(String(context.fillStyle));
  const part = (i: number) => parseInt(hex?.[i] ?? '99', 16);
  return (0xff000000 | (part(3) << 16) | (part(2) << 8) | part(1)) >>> 0;
}

/** A pixel wide for each column, `row` pixels high for each line, of which the last `gap` stay empty. The shares of a
 * column stand one above the other, those of a column that is not full at the bottom. */
export function painted(strip: Strip, palette: Palette, row: number, gap: number): HTMLCanvasElement {
  const picture = document.createElement('canvas');
  picture.width = Math.max(1, strip.columns);
  picture.height = Math.max(1, strip.lines.length * row);
  const context = picture.getContext('2d')!;
  const image = context.createImageData(picture.width, picture.height);
  const pixels = new Uint32Array(image.data.buffer);
  const kinds = strip.kinds.length;
  const each = (strip.end - strip.begin) / strip.columns;
  const colours = Uint32Array.from(palette.colours, (colour) => pixelOf(colour, context));
  const high = row - gap;
  for (let line = 0; line < strip.lines.length; ++line) {
    for (let column = 0; column < strip.columns; ++column) {
      const at = (line * strip.columns + column) * kinds;
      let sum = 0;
      for (const kind of palette.order) sum += strip.ns[at + kind]!;
      if (sum <= 0) continue;
      const full = Math.min(1, sum / each || 1) * high;
      let y = Math.round(high - full);
      let done = high - full;
      for (const kind of palette.order) {
        const part = strip.ns[at + kind]!;
        if (part <= 0) continue;
        done += (part / sum) * full;
        const end = Math.min(high, Math.round(done));
        for (; y < end; ++y) pixels[(line * row + y) * strip.columns + column] = colours[kind]!;
      }
    }
  }
  context.putImageData(image, 0, 0);
  return picture;
}
