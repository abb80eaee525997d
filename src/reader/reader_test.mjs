// What reader.ts does with what goes wrong, and with memory that ends:
//
//   node reader_test.mjs READER.mjs READER.wasm CAIRN_TRACES
//
// CAIRN_TRACES: a folder of traces. Prints what is wrong; exit status 0 if nothing is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , script, wasm, folder] = process.argv;
const { LEAST_PAGES, Reader, ReaderError } = await import(pathToFileURL(script));
const module = await WebAssembly.compile(readFileSync(wasm));
const trace = (name) => readFileSync(join(folder, `v1-${name}.cairn`));
let problems = 0;

function expect(what, found, wanted) {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  ++problems;
  console.log(`${what}: ${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`);
}
/** What was thrown, which must be a ReaderError. */
async function thrown(what, run) {
  try {
    await run();
  } catch (error) {
    if (error instanceof ReaderError) return error;
    throw error;
  }
  ++problems;
  console.log(`${what}: nothing was thrown`);
  return new ReaderError('', 'broken');
}

const garbage = await thrown('garbage', () => Reader.open(module, new Uint8Array([1, 2, 3])));
expect('garbage', [garbage.kind, garbage.message, garbage.where], ['refused', 'this is not a Cairn trace', 'byte 0']);
const empty = await thrown('nothing', () => Reader.open(module, new Uint8Array()));
expect('nothing', empty.kind, 'refused');
const cut = await thrown('a cut trace', () => Reader.open(module, trace('stencil').subarray(0, 500)));
expect('a cut trace', [cut.kind, cut.hint], ['refused', 'the file is damaged or not complete: copy it again or record again']);

const reader = await Reader.open(module, trace('stencil'));
const nobody = await thrown('no such rank', () => reader.calls(12345));
expect('no such rank', [nobody.kind, nobody.message], ['refused', 'there is no rank 12345 in this trace']);
expect('a refusal ends nothing', reader.calls(0, { most: 3 }).index.length, 3);
const all = reader.calls(0, { most: 1e6 });
expect('the end', [all.next, all.index.length], [-1, reader.count(0)]);
const some = reader.calls(0, { most: 1e6, text: 'MPI_Isend(' });
expect('a text', some.index.length, all.text.filter((text) => text.includes('MPI_Isend(')).length);
expect('no text', reader.calls(0, { text: 'none has this' }).index.length, 0);
const group = all.group[10];
const ofGroup = reader.calls(0, { most: 1e6, groups: [group] });
expect('a group', ofGroup.index.length, all.group.filter((each) => each === group).length);
expect('no group', reader.calls(0, { groups: [] }).index.length, 0);
const paused = reader.calls(0, { walked: 5, groups: [] });
expect('where to go on', paused.next, 5);
const untold = await thrown('verbs', () => reader.loops());
expect('verbs', [untold.kind, untold.hint], ['refused', 'use reader-verbs.wasm']);

// A trace that lies elsewhere: all but its blocks is read once, and each block when it is asked for.
for (const name of ['blocks', 'bundles', 'stencil']) {
  const file = trace(name);
  const parts = [];
  let there = true;
  const elsewhere = await Reader.open(module, { size: file.length, read: (offset, size) => {
    parts.push([offset, size]);
    return there ? file.subarray(offset, offset + size) : null;
  } });
  const whole = await Reader.open(module, file);
  const opening = parts.reduce((sum, [, size]) => sum + size, 0);
  if (name === 'blocks' && opening >= file.length) expect('bytes that opening reads', opening, `fewer than ${file.length}`);
  expect(`${name} elsewhere`, elsewhere.run(), whole.run());
  expect(`${name} elsewhere, calls`, elsewhere.calls(0, { most: 1e4 }), whole.calls(0, { most: 1e4 }));
  if (name !== 'blocks') continue;
  if (parts.reduce((sum, [, size]) => sum + size, 0) === opening) expect('blocks that calls need', 'none', 'some');
  there = false;
  const lost = await thrown('a trace that is gone', () => elsewhere.calls(8, { most: 1e4 }));
  expect('a trace that is gone', [lost.kind, lost.hint], ['refused', 'is cairn serve still running, and the file as it was?']);
}

// So much memory as the module begins with is enough for a small trace, and not for 64 MiB.
const small = await Reader.open(module, trace('stencil'), LEAST_PAGES);
expect('a small trace in little memory', small.count(0), reader.count(0));
const large = await thrown('a large file', () => Reader.open(module, new Uint8Array(64 << 20), LEAST_PAGES));
expect('a large file', large.kind, 'memory');
// All memory goes to lists that nobody gives back: the next question ends the reader.
const needs = await Reader.open(module, trace('lossless'), LEAST_PAGES + 1);
for (const bytes of [1 << 20, 1 << 12, 16]) while (needs.module.reader_alloc(bytes) !== 0);
const ended = await thrown('memory that ends', () => needs.calls(0, { most: 1e5 }));
expect('memory that ends', [ended.kind, ended.message.startsWith('out of memory: ')], ['memory', true]);
const again = await thrown('a reader that ended', () => needs.count(0));
expect('a reader that ended', again === ended, true);
console.log(problems === 0 ? 'all is told' : `${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
