// Holds what reader.wasm says of traces against what cairn says of them:
//
//   node told_alike.mjs READER.mjs READER.wasm CAIRN TRACE...
//
// Of each call what `cairn dump` prints, with its times and bytes; from places in the middle too; summaries, sizes,
// loops, matrices and timelines as their --json; messages as in the table that it exports. Exit status: 0 all alike, 1 not.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';

const [, , script, wasm, cairn, ...traces] = process.argv;
const { KINDS, Reader, SORTS } = await import(pathToFileURL(script));
const module = await WebAssembly.compile(readFileSync(wasm));
let problems = 0;
let compared = 0;

function expect(what, found, wanted) {
  ++compared;
  if (isDeepStrictEqual(found, wanted)) return;
  ++problems;
  console.log(`${what}: the reader says ${shown(found)}, cairn ${shown(wanted)}`);
}
const shown = (value) => (JSON.stringify(value) ?? String(value)).slice(0, 400);

/** What cairn prints; null if it refuses. */
function told(...words) {
  try {
    return execFileSync(cairn, words, { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    // With damaged times what there is is printed all the same.
    return error.status === 3 && error.stdout ? error.stdout : null;
  }
}
const json = (...words) => {
  const text = told(...words, '--json');
  return text === null ? null : JSON.parse(text);
};
const withoutFile = (answer) => (answer === null ? null : { ...answer, file: '' });
/** What the reader answers; null if it refuses. */
function asked(question) {
  try {
    return question();
  } catch (error) {
    if (error.kind !== 'refused') throw error;
    return null;
  }
}

/** All of a rank's calls, page by page. */
function callsOf(reader, rank, from = 0, most = Infinity) {
  const rows = [];
  for (let next = from; next >= 0 && rows.length < most; ) {
    const page = reader.calls(rank, { first: next, most: Math.min(1000, most - rows.length) });
    for (let i = 0; i < page.index.length; ++i) {
      const timed = page.begin[i] >= 0;
      rows.push({
        index: page.index[i],
        thread: page.thread[i],
        begin_ns: timed ? page.begin[i] : undefined,
        duration_ns: timed ? page.duration[i] : undefined,
        gap_ns: timed ? page.gap[i] : undefined,
        bytes: page.bytes[i] === -1 ? undefined : page.bytes[i] === -2 ? null : page.bytes[i],
        group: page.group[i],
        text: page.text[i],
      });
    }
    next = page.next;
  }
  return rows;
}

/** Messages of the whole run and of parts, as rows, held against the table that `cairn export` writes of as much. */
function compareMessages(trace, reader) {
  const table = (...words) => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-told-'));
    try {
      if (told('export', '--to', 'csv', '-o', join(folder, 'out'), ...words, trace) === null) return null;
      const lines = readFileSync(join(folder, 'out/messages.csv'), 'utf8').split('\n').slice(1, -1);
      // Names of communicators have no commas.
      return lines.map((line) => line.split(',')).filter((row) => row[7] !== '')
        .map(([from, sentBy, to, receivedBy, , tag, bytes, begin, end]) =>
          [from, sentBy, to, receivedBy, tag, bytes || '-1', begin, end].map(Number)).sort();
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const found = (ranks, begin, end) => {
    const all = asked(() => reader.messages({ ranks, begin, end, most: 1e7, mostBefore: Infinity }));
    if (all === null) return null;
    return [...all.from].map((from, i) => [from, all.sentBy[i], all.to[i], all.receivedBy[i], all.tag[i], all.bytes[i],
      all.begin[i], all.end[i]]).sort();
  };
  const whole = found(null, 0, Infinity);
  expect(`${trace}: messages`, whole, table());
  if (whole === null || whole.length === 0) return;
  const middle = whole[Math.floor(whole.length / 2)][6];
  for (const [ranks, word] of [[null, null], [[[0, 1]], '0-1']]) {
    const words = ['--time', `${middle}ns+100us`, ...(word ? ['--rank', word] : [])];
    expect(`${trace}: messages of ${words}`, found(ranks, middle, middle + 100_000), table(...words));
  }
  const cut = reader.messages({ ranks: null, begin: 0, end: Infinity, most: 1, mostBefore: Infinity });
  expect(`${trace}: one message`, [cut.from.length, cut.more], [1, whole.length > 1]);
}

for (const trace of traces) {
  const reader = await Reader.open(module, readFileSync(trace));
  const run = reader.run();
  const groups = reader.groups();
  const info = json('info', trace);
  expect(`${trace}: calls`, run.calls, info.calls);
  expect(`${trace}: classes`, [run.classes, run.functions, run.communicators], [
    info.classes,
    info.functions,
    info.communicators,
  ]);
  expect(`${trace}: bytes`, run.bytes, info.bytes);
  const { communicators, failures, ...outline } = run;
  expect(`${trace}: outline`, reader.outline(), outline);
  const counted = groups.function.map(() => 0);
  const lines = new Map(); // by rank
  for (const line of told('dump', trace).split('\n')) {
    const head = /^# rank (\d+) /.exec(line);
    if (head) lines.set(+head[1], (lines.current = []));
    else if (line !== '') lines.current.push(line);
  }
  for (const [rank, texts] of lines) {
    const calls = told('dump', '--json', '--rank', String(rank), trace).split('\n').slice(1, -1).map((line) => JSON.parse(line));
    const found = callsOf(reader, rank);
    expect(`${trace}, rank ${rank}: number of calls`, [found.length, reader.count(rank)], [calls.length, calls.length]);
    for (let i = 0; i < Math.min(found.length, calls.length); ++i) {
      const { text, group, ...rest } = found[i];
      const { index, thread, begin_ns, duration_ns, gap_ns, bytes } = calls[i];
      expect(`${trace}, rank ${rank}, call ${i}`, rest, { index, thread, begin_ns, duration_ns, gap_ns, bytes });
      expect(`${trace}, rank ${rank}, call ${i}: ${texts[i]}`, texts[i]?.endsWith('  ' + text), true);
      expect(`${trace}, rank ${rank}, call ${i}: group`, groups.function[group], calls[i].function);
      ++counted[group];
    }
    for (const place of [1, found.length - 1, Math.floor(found.length / 3)].filter((from) => from > 0)) {
      expect(`${trace}, rank ${rank}, from ${place}`, callsOf(reader, rank, place, 3), found.slice(place, place + 3));
    }
    const last = found.at(-1);
    if (last?.begin_ns !== undefined) {
      const at = reader.callAt(rank, last.begin_ns);
      const first = found.findIndex((call) => call.begin_ns + call.duration_ns >= last.begin_ns);
      expect(`${trace}, rank ${rank}: the call at ${last.begin_ns} ns`, at, first);
    }
  }
  expect(`${trace}: calls of groups`, [...groups.calls], counted);
  for (const [by, ...words] of [['function'], ['site', '--callsites'], ['rank', '--per-rank']]) {
    expect(`${trace}: summary by ${by}`, asked(() => reader.summary(by)), withoutFile(json('summary', trace, ...words)));
  }
  for (const by of ['op', 'comm', 'site']) {
    const wanted = json('sizes', trace, '--exact', '--by', by);
    expect(`${trace}: sizes by ${by}`, asked(() => reader.sizes(by, true)), withoutFile(wanted));
  }
  expect(`${trace}: loops`, asked(() => reader.loops()), withoutFile(json('loops', '--all', trace)));
  const matrix = asked(() => reader.matrix());
  const wanted = json('matrix', trace);
  expect(`${trace}: a matrix`, matrix === null, wanted === null);
  if (matrix !== null && wanted !== null) {
    const words = ['message', 'neighbour', 'onesided', 'collective'];
    const cells = [...matrix.from].map((from, i) => ({
      from,
      to: matrix.to[i],
      kind: words[matrix.kind[i]],
      messages: matrix.messages[i],
      bytes: matrix.bytes[i],
      unsized: matrix.unsized[i],
    }));
    expect(`${trace}: matrix`, cells, wanted.groups[0]?.cells ?? []);
    expect(`${trace}: collectives`, matrix.collectives, wanted.collectives);
    const byComm = reader.matrix(null, true);
    const some = json('matrix', '--by', 'comm', trace);
    const numbered = [...byComm.from].map((from, i) => [byComm.communicators[byComm.communicator[i]], from, byComm.to[i], byComm.bytes[i]]);
    expect(`${trace}: matrix by communicator`, numbered,
      some.groups.flatMap((group) => group.cells.map((cell) => [group.name, cell.from, cell.to, cell.bytes])));
    expect(`${trace}: kinds`, matrix.kind.every((kind) => kind < KINDS.length), true);
  }
  compareMessages(trace, reader);
  const strip = reader.strip({ by: 'sort', begin: 0, end: Infinity, columns: 37, lines: 3, mostCalls: 1e15 });
  const line = json('timeline', '--columns', '37', '--lines', '3', trace);
  expect(`${trace}: axis`, strip.axis, line.axis);
  expect(`${trace}: ends of the timeline`, [strip.begin, strip.end], [line.begin_ns, line.end_ns]);
  const means = line.lines.flatMap(({ ranks, ns }) =>
    [...Array(37).keys()].flatMap((column) => strip.kinds.map((kind) => (ns?.[kind]?.[column] ?? 0) / ranks.length)),
  );
  expect(`${trace}: timeline`, [...strip.ns], means);
}
console.log(`${compared} answers on ${traces.length} traces compared`);
process.exit(problems === 0 ? 0 : 1);
