// A place to draw: the screen, or the text of a picture. Charts draw once, on either.

export interface Surface {
  rect(x: number, y: number, width: number, height: number, colour: string): void;
  line(x1: number, y1: number, x2: number, y2: number, colour: string, width?: number): void;
  text(x: number, y: number, text: string, colour: string, align?: 'start' | 'middle' | 'end', size?: number): void;
  /** Where what is shown is made of pixels: a picture as wide and high as that, its pixels left as they are, of which what
   * is left of `least` or right of `most` is not shown; and how many pixels are one unit. */
  picture?(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number, least: number, most: number): void;
  pixels?: number;
}

export const kFont = 'system-ui, sans-serif';

export class ScreenSurface implements Surface {
  readonly pixels: number;
  constructor(private readonly context: CanvasRenderingContext2D) {
    context.textBaseline = 'middle';
    this.pixels = context.getTransform().a;
  }
  picture(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number, least: number, most: number): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(least, y, most - least, height);
    this.context.clip();
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(picture, x, y, width, height);
    this.context.restore();
  }
  rect(x: number, y: number, width: number, height: number, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }
  line(x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): void {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
  }
  text(x: number, y: number, text: string, colour: string, align: 'start' | 'middle' | 'end' = 'start', size = 12): void {
    this.context.font = `${size}px ${kFont}`;
    this.context.fillStyle = colour;
    this.context.textAlign = align === 'middle' ? 'center' : align;
    this.context.fillText(text, x, y);
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
}

const short = (value: number): string => String(Math.round(value * 100) / 100);

export class SvgSurface implements Surface {
  private parts: string[] = [];
  constructor(private readonly width: number, private readonly height: number, private readonly back: string) {}
  rect(x: number, y: number, width: number, height: number, colour: string): void {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escaped(colour)}"/>`);
  }
  line(x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): void {
    this.parts.push(
      `<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" stroke="${escaped(colour)}" stroke-width="${width}"/>`);
  }
  text(x: number, y: number, text: string, colour: string, align: 'start' | 'middle' | 'end' = 'start', size = 12): void {
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${escaped(colour)}" font-size="${size}" text-anchor="${align}" ` +
        `dominant-baseline="middle">${escaped(text)}</text>`);
  }
  svg(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
      `viewBox="0 0 ${this.width} ${this.height}" font-family="${kFont}">` +
      `<rect width="100%" height="100%" fill="${this.back}"/>${this.parts.join('')}</svg>\n`
    );
  }
}
