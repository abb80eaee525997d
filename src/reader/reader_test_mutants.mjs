// Asks reader.wasm what reader_test_mutants.cc asks the reader on this machine, and holds the answers against each other:
//
//   node reader_test_mutants.mjs READER.wasm reader_mutants COUNT TRACE...
//
// Each of COUNT damaged traces must be answered the same, without a trap. What differs is what a file may take of
// memory: where things take other sizes, a file is refused that the other reads. Exit status: 0 all alike, 1 not.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, , wasm, mutants, count, ...traces] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const said = execFileSync(mutants, [folder, count, ...traces], { encoding: 'utf8', maxBuffer: 1 << 30 });
const wanted = new Map(); // by file: its lines
for (const line of said.split('\n').slice(0, -1)) {
  const file = line.slice(0, line.indexOf(' '));
  if (!wanted.has(file)) wanted.set(file, []);
  wanted.get(file).push(line);
}

const memory = new WebAssembly.Memory({ initial: 128, maximum: 65536 });
const module = await WebAssembly.compile(readFileSync(wasm));
const nothing = { get: () => () => 8, has: () => true };
const { exports } = await WebAssembly.instantiate(module, { env: { memory, reader_read: () => -1 }, wasi_snapshot_preview1: new Proxy({}, nothing) });
exports._initialize();

function hashOf(block) {
  const view = new DataView(memory.buffer);
  const bytes = new Uint8Array(memory.buffer, block, view.getUint32(block + 4, true));
  let hash = 2166136261;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}
function column(block, number, type) {
  const view = new DataView(memory.buffer);
  const head = block + 8 + 16 * number;
  return new type(memory.buffer, block + view.getUint32(head + 8, true), view.getUint32(head + 4, true)).slice();
}
const errorText = () => new TextDecoder().decode(column(exports.reader_error(), 0, Uint8Array));

let lines = [];
function ask(file, question, result) {
  lines.push(`${file} ${question} ${result === 0 ? 'error ' + errorText() : hashOf(result)}`);
}

function askAll(file) {
  ask(file, 'run', exports.reader_run(1));
  ask(file, 'classes', exports.reader_classes());
  ask(file, 'groups', exports.reader_groups());
  const classes = exports.reader_classes();
  const calls = classes === 0 ? 0 : column(classes, 6, Float64Array).reduce((sum, each) => sum + each, 0);
  const runs = classes === 0 ? [] : column(classes, 4, Uint32Array);
  if (classes !== 0 && calls < 1e5) {
    ask(file, 'durations', exports.reader_durations());
    ask(file, 'matrix', exports.reader_matrix(0, 0, 1));
    ask(file, 'summary', exports.reader_summary(1));
    ask(file, 'sizes', exports.reader_sizes(0, 1));
    ask(file, 'loops', exports.reader_loops());
    ask(file, 'strip', exports.reader_strip(0, 0, 0, 0, 0, 1e300, 10, 3, 1e6));
  }
  if (runs.length === 0) return;
  for (const rank of [runs[0], runs[runs.length - 2]]) {
    const found = exports.reader_count(rank);
    ask(file, 'count', found);
    const all = found === 0 ? 100 : column(found, 0, Float64Array)[0];
    ask(file, 'calls', exports.reader_calls(rank, -1, 0, 100, 1000, 0, 0, 0, 0));
    ask(file, 'middle', exports.reader_calls(rank, -1, Math.floor(all / 2), 10, 1000, 0, 0, 0, 0));
    ask(file, 'at', exports.reader_call_at(rank, 1e6));
  }
}

let problems = 0;
let answered = 0;
let byMemory = 0;
for (const [file, expected] of wanted) {
  const bytes = readFileSync(join(folder, `${file}.cairn`));
  lines = [];
  try {
    const at = exports.reader_alloc(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    if (exports.reader_open(at, bytes.length) === 0) {
      ++answered;
      askAll(file);
    } else {
      ask(file, 'open', 0);
    }
  } catch (error) {
    console.log(`${file}: ${error}, ${exports.reader_wanted_memory() >>> 0} bytes wanted; here: ${expected[0].slice(0, 200)}`);
    process.exit(1); // the module is dead
  }
  if (lines.join('\n') === expected.join('\n')) continue;
  const at = lines.findIndex((line, i) => line !== expected[i]);
  const ofMemory = (line) => /so few bytes may|is too large|too much memory/.test(line ?? '');
  if (ofMemory(lines[at]) || ofMemory(expected[at])) {
    ++byMemory;
    continue;
  }
  ++problems;
  console.log(`${lines[at]}\n  and here ${expected[at]}`);
}
console.log(`${wanted.size} damaged traces, ${answered} of them answered, ${byMemory} refused on one side for their memory`);
process.exit(problems === 0 && answered > wanted.size / 20 ? 0 : 1);
