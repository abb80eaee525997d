// Chart: a canvas as wide as its place, drawn anew when that, the colours of the system or what it shows change, with
// buttons that copy it as SVG, PNG and its numbers as CSV.
import type { CanvasHTMLAttributes, ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { resolved } from './colours';
import { copyPicture, copyText, type Rows } from './save';
import { ScreenSurface, SvgSurface, type Surface } from './surface';
import { Take, useTold } from './take';

export interface Ink {
  text: string;
  faint: string;
  back: string;
  line: string;
  idle: string;
  accent: string;
}

export function inkNow(): Ink {
  const of = (name: string) => resolved(`var(--${name})`);
  return { text: of('text'), faint: of('faint'), back: of('back'), line: of('line'), idle: of('idle'), accent: of('accent') };
}

export interface ChartProps {
  name: string;
  /** For who cannot see it: what it shows. */
  label: string;
  height: number;
  draw: (surface: Surface, width: number, height: number, ink: Ink) => void;
  csv?: () => Rows | Promise<Rows>;
  /** What stands at the pointer. */
  tip?: (x: number, y: number, width: number) => ComponentChildren;
  handlers?: CanvasHTMLAttributes<HTMLCanvasElement>;
  /** Told its width, when that changes. */
  onWidth?: (width: number) => void;
  onCanvas?: (canvas: HTMLCanvasElement) => void;
}

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<{ x: number; y: number; what: ComponentChildren } | null>(null);
  const [said, tell] = useTold();

  useLayoutEffect(() => {
    const element = place.current!;
    const measure = () => setWidth(Math.floor(element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    props.onCanvas?.(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width > 0) props.onWidth?.(width);
  }, [width]);
  const paint = () => {
    const element = canvas.current!;
    if (width === 0) return;
    const scale = devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(props.height * scale)];
    if (element.width !== wide || element.height !== high) {
      element.width = wide;
      element.height = high;
    }
    const context = element.getContext('2d')!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, props.height);
    props.draw(new ScreenSurface(context), width, props.height, inkNow());
  };
  useLayoutEffect(paint);
  // When the system's colours change, and before the page is printed, since paper is white (app.tsx).
  const painter = useRef(paint);
  painter.current = paint;
  useEffect(() => {
    const again = () => painter.current();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    addEventListener('cairn-colours', again);
    return () => {
      dark.removeEventListener('change', again);
      removeEventListener('cairn-colours', again);
    };
  }, []);

  const svg = () => {
    const ink = inkNow();
    const surface = new SvgSurface(width, props.height, ink.back);
    props.draw(surface, width, props.height, ink);
    return surface.svg();
  };
  return (
    <figure class="chart" ref={place}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={props.label}
        tabIndex={props.handlers?.onKeyDown ? 0 : -1}
        style={{ width: `${width}px`, height: `${props.height}px` }}
        {...props.handlers}
        onPointerMove={(event) => {
          props.handlers?.onPointerMove?.(event);
          if (!props.tip) return;
          const what = props.tip(event.offsetX, event.offsetY, width);
          setTip(what ? { x: event.offsetX, y: event.offsetY, what } : null);
        }}
        onPointerLeave={(event) => {
          props.handlers?.onPointerLeave?.(event);
          setTip(null);
        }}
      />
      {tip && (
        <div
          class="tip"
          style={{
            left: `${Math.max(0, Math.min(tip.x + 14, width - 330))}px`,
            top: `${tip.y + 18}px`,
          }}
        >
          {tip.what}
        </div>
      )}
      <figcaption class="take">
        <Take name={props.name} csv={props.csv} said={said} tell={tell}>
          <button type="button" onClick={() => tell(copyText(`${props.name}.svg`, svg(), 'image/svg+xml'))}>SVG</button>
          <button type="button" onClick={() => tell(copyPicture(`${props.name}.png`, canvas.current!))}>PNG</button>
        </Take>
      </figcaption>
    </figure>
  );
}
