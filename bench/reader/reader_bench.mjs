// How quickly the reader of pages (src/reader) opens traces and goes through their calls as WebAssembly:
//
//   node reader_bench.mjs BUILD TRACE...
//
// One line a trace: milliseconds to open it, the module's compiling included, and millions of calls a second of rank 0,
// without texts and with them, each the second time, as reader_bench measures them on this machine itself; then the
// memory that the module has taken.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , build, ...traces] = process.argv;
const { Reader } = await import(pathToFileURL(join(build, 'src/reader/reader.mjs')));
const wasm = readFileSync(join(build, 'share/cairn/report/reader.wasm'));
for (const trace of traces) {
  const bytes = readFileSync(trace);
  let begin = performance.now();
  const reader = await Reader.open(wasm, bytes);
  const opened = performance.now() - begin;
  const speed = (texts) => {
    begin = performance.now();
    return reader.walk(0, texts).calls / (performance.now() - begin) / 1e3;
  };
  speed(false);
  const walked = speed(false);
  speed(true);
  const told = speed(true);
  console.log(`${basename(trace).padEnd(24)} ${opened.toFixed(1).padStart(10)} ms ${walked.toFixed(2).padStart(8)} M/s ${told.toFixed(2).padStart(8)} M/s ` +
    `${(reader.memoryBytes() / 1e6).toFixed(0).padStart(6)} MB`);
}
