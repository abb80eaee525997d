// How large messages are: for each operation, in powers of two.
import { Chart } from './chart';
import { colourOf } from './colours';
import type { Context } from './context';
import { refusal, told } from './facts';
import { bytes, count, plural } from './format';
import { Table } from './table';

const kRow = 18;

export function Sizes({ context }: { context: Context }) {
  const sizes = told(context.trace.sizes);
  if (!sizes) return <p class="warn">{refusal(context.trace.sizes)}</p>;
  if (sizes.groups.length === 0) return <p>No message is in this trace.</p>;
  return (
    <>
      {sizes.groups.map((group, g) => {
        const many = group.messages ?? group.calls ?? 0;
        const of = (bar: { messages?: number; calls?: number }) => bar.messages ?? bar.calls ?? 0;
        const most = Math.max(1, ...group.sizes.map(of));
        const name = (bar: { least: number; most: number }) => (bar.least === bar.most ? bytes(bar.least) : `${bytes(bar.least)} to ${bytes(bar.most)}`);
        return (
          <section key={group.name}>
            <h2>
              {group.name} <span class="faint">{plural(many, group.collective ? 'call' : 'message')}, {bytes(group.bytes)}</span>
            </h2>
            <Chart
              name={`sizes-${group.name}`} height={group.sizes.length * kRow + 4}
              label={`Sizes of ${group.name}: ${group.sizes.map((bar) => `${name(bar)} ${count(of(bar))}`).join('; ')}`}
              csv={() => [['least', 'most', 'count', 'bytes'], ...group.sizes.map((b) => [b.least, b.most, of(b), b.bytes])]}
              draw={(surface, width, _height, ink) => {
                const left = 190;
                group.sizes.forEach((bar, i) => {
                  const y = i * kRow + 2;
                  surface.text(left - 8, y + kRow / 2 - 1, name(bar), ink.text, 'end');
                  const wide = Math.max(1, (of(bar) / most) * Math.min(700, width - left - 230));
                  surface.rect(left, y, wide, kRow - 3, colourOf(g));
                  surface.text(left + wide + 6, y + kRow / 2 - 1, `${count(of(bar))}, ${bytes(bar.bytes)}`, ink.faint);
                });
              }}
            />
          </section>
        );
      })}
      <h2>As a table</h2>
      <Table
        name="sizes"
        rows={sizes.groups.flatMap((group) => group.sizes.map((bar) => ({ group: group.name, ...bar })))}
        columns={[
          { name: 'operation', left: true, value: (r) => r.group },
          { name: 'at least', value: (r) => r.least, show: (r) => bytes(r.least) },
          { name: 'at most', value: (r) => r.most, show: (r) => bytes(r.most) },
          { name: 'messages or calls', value: (r) => r.messages ?? r.calls ?? 0, show: (r) => count(r.messages ?? r.calls ?? 0) },
          { name: 'bytes', value: (r) => r.bytes, show: (r) => bytes(r.bytes) },
        ]}
      />
    </>
  );
}
