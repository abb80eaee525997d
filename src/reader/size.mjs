// Prints how large modules are, raw and compressed: node size.mjs MOST MODULE...
// Exit status 1 if the first takes more than MOST bytes under gzip.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [, , most, ...modules] = process.argv;
const sizes = modules.map((module) => {
  const bytes = readFileSync(module);
  const packed = gzipSync(bytes, { level: 9 }).length;
  console.log(`${basename(module)}: ${bytes.length} bytes, ${packed} under gzip, ${brotliCompressSync(bytes).length} under brotli`);
  return packed;
});
process.exit(sizes[0] <= Number(most) ? 0 : 1);
