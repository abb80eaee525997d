// What is wrong in the run, if anything is.
import type { Context } from './context';
import { refusal, told, type Place } from './facts';
import { count, plural, shortRanks } from './format';
import { go } from './state';
import { Table } from './table';

const placeText = (place: Place | null): string => (place ? `${place.function}  ${place.site}` : '');

export function CheckView({ context }: { context: Context }) {
  const check = told(context.trace.check);
  if (!check) return <p class="warn">{refusal(context.trace.check)}</p>;
  return (
    <>
      <p>Looked for: {check.kinds.join(', ')}.</p>
      {check.not_judged.length > 0 && <p class="faint">Not judged: {check.not_judged.map(String).join('; ')}.</p>}
      {check.findings.length === 0 ? <p>Nothing wrong was found.</p> : (
        <Table
          name="findings" rows={check.findings}
          columns={[
            { name: 'kind', left: true, value: (f) => f.kind },
            { name: 'what', left: true, value: (f) => f.text, show: (f) => <>{f.sure ? '' : 'perhaps: '}{f.text}</> },
            { name: 'times', value: (f) => f.count, show: (f) => count(f.count) },
            { name: 'ranks', left: true, value: (f) => f.ranks, show: (f) => shortRanks(f.ranks) },
            { name: 'call', left: true, value: (f) => placeText(f.call) },
            { name: 'and', left: true, value: (f) => placeText(f.other_call) },
          ]}
          onPick={(f) => {
            const first = f.first as { rank?: number; call?: number };
            go('calls', { ranks: String(first.rank ?? ''), at: first.call ?? null, fn: '', site: '' });
          }}
        />
      )}
      {check.more > 0 && <p>{plural(check.more, 'further finding')}: see cairn check.</p>}
    </>
  );
}
