// Tests of what the page reckons by itself, without a browser: squares of the matrix, names of call sites, what an address
// says. node units.mjs; exit status 1 if one fails.
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
Object.assign(globalThis, { location: { hash: '' }, addEventListener: () => {} });

async function module(name) {
  const made = await build({
    entryPoints: [join(here, 'src', name)], bundle: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic',
    jsxImportSource: 'preact', logLevel: 'warning',
  });
  return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].text).toString('base64')}`);
}

let failed = 0;
function expect(what, found, wanted) {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  ++failed;
  console.log(`FAILED: ${what}: ${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`);
}

const { matrixOf, onlyOf } = await module('matrix_sums.ts');
/** Each rank sends a message of 8 bytes to the next, and rank 0 one of 100 to rank 2 in another communicator. */
function ring(ranks) {
  const all = Array.from({ length: ranks }, (_, i) => i);
  return {
    ranks,
    from: Uint32Array.from([...all, 0]),
    to: Uint32Array.from([...all.map((i) => (i + 1) % ranks), 2]),
    kind: new Uint32Array(ranks + 1),
    communicator: Uint32Array.from([...all.map(() => 0), 1]),
    messages: new Float64Array(ranks + 1).fill(1),
    bytes: Float64Array.from([...all.map(() => 8), 100]),
    unsized: new Float64Array(ranks + 1),
    communicators: ['MPI_COMM_WORLD', 'comm(1@0)'],
    collectives: [],
    unknown_processes: 0,
  };
}
const square = (traffic, ask) => matrixOf(traffic, [], { messages: false, row: 0, column: 0, size: 0, cells: 128, ...ask });
for (const ranks of [1, 5, 128, 129, 150, 600, 16384]) {
  const { cells, block, values } = square(onlyOf(ring(Math.max(3, ranks)), '', '', ''), {});
  expect(`cells of ${ranks} ranks`, [(cells - 1) * block < Math.max(3, ranks), cells * block >= Math.max(3, ranks), cells <= 128], [true, true, true]);
  expect(`every block of ${ranks} ranks sends`, Array.from({ length: cells }, (_, row) => values.subarray(row * cells, (row + 1) * cells).some((value) => value > 0)).includes(false), false);
}
{
  const { cells, block, values } = square(onlyOf(ring(600), '', '', ''), { row: 225, column: 225, size: 150 });
  expect('a square of 150 ranks', [cells, block, values.reduce((a, b) => a + b, 0)], [75, 2, 149 * 8]);
}
expect('sums of a pair', Array.from(onlyOf({ ...ring(3), to: Uint32Array.of(1, 2, 0, 1) }, '', '', '').bytes), [108, 8, 8]);
expect('of one communicator', Array.from(onlyOf(ring(3), '', 'comm(1@0)', '').bytes), [100]);
expect('of a kind that is not there', onlyOf(ring(3), 'one-sided', '', '').from.length, 0);
{
  const chosen = onlyOf(ring(9), '', '', '4,7-8');
  expect('of some ranks', Array.from(chosen.from, (rank, i) => `${rank}>${chosen.to[i]}`), ['3>4', '4>5', '6>7', '7>8', '8>0']);
}
expect('nothing selected and one row a pair', onlyOf({ ...ring(3), communicators: ['MPI_COMM_WORLD'] }, '', '', '').from.length, 4);

const { siteText, withoutParameters } = await module('sites.tsx');
for (const [name, wanted] of [
  ['main', 'main'],
  ['plain(int, int)', 'plain'],
  ['void exchange<std::vector<int, std::allocator<int> >, double>(std::vector<int>, double)', 'void exchange<std::vector<int, std::allocator<int> >, double>'],
  ['(anonymous namespace)::send(int)', '(anonymous namespace)::send'],
  ['Halo::operator()(int) const', 'Halo::operator()'],
  ['operator<<(std::ostream&, Halo)', 'operator<<'],
  ['step()::{lambda(int)#1}::operator()(int) const', 'step'],
]) expect(name, withoutParameters(name), wanted);
const at = (name) => siteText({ site: { file: '/src/halo.cc', line: 8, function: name } });
expect('a site', [at('plain(int, int)'), at('<module>'), at('Halo.step.<lambda>')], ['halo.cc:8 in plain()', 'halo.cc:8 in <module>', 'halo.cc:8 in Halo.step.<lambda>']);
expect('a site without sources', siteText({ site: { module: 'app', offset: 4660, function: 'f' } }), 'app+0x1234 in f()');

const { parsed } = await module('state.ts');
for (const [fragment, name, wanted] of [
  ['#timeline?ranks=0-3,8', 'ranks', '0-3,8'], ['#timeline?ranks=5-', 'ranks', ''], ['#timeline?ranks=4294967296', 'ranks', ''],
  ['#timeline?ranks=,', 'ranks', ''], ['#timeline?from=5&to=9', 'from', 5], ['#timeline?from=500&to=100', 'from', null],
  ['#timeline?from=1&to=1e300', 'to', null], ['#matrix?text=1+2+3', 'text', '1 2 3'],
]) expect(fragment, parsed(fragment)[name], wanted);

console.log(failed === 0 ? 'passed' : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
