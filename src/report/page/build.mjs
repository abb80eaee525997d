// Makes the assets of the page from its sources: page.html (a template that cairn report fills), page.js.gz.
// node build.mjs OUT
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
mkdirSync(out, { recursive: true });

async function bundled(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'text' },
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
const [boot, page] = await Promise.all([bundled('boot.ts'), bundled('main.tsx')]);
const css = (
  await build({
    entryPoints: [join(here, 'src', 'page.css')],
    bundle: true,
    minify: true,
    write: false,
    logLevel: 'warning',
  })
).outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(boot) || /<\/style/i.test(css)) throw new Error('a script that would end its own element');
// Functions: "$&" in what is put in means nothing.
const template = readFileSync(join(here, 'src', 'page.html'), 'utf8')
  .replace('@BOOT_HASH@', () => hash(boot))
  .replace('@STYLE_HASH@', () => hash(css))
  .replace('@STYLE@', () => css)
  .replace('@BOOT@', () => boot);
writeFileSync(join(out, 'page.html'), template);
const packed = gzipSync(page, { level: 9 });
writeFileSync(join(out, 'page.js.gz'), packed);
console.log(`page.html ${template.length} bytes, page.js ${page.length}, ${packed.length} compressed`);
