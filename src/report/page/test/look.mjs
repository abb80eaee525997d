// Looks at pages of `cairn report` in a real browser: opens each, goes through all views, takes a picture and all that can
// be copied as CSV, presses keys, and times what a user waits for. Prints JSON; what the browser complains of is among it,
// and what the tab takes of memory (its processes' share, as Linux counts it).
//
//   node look.mjs --out FOLDER [--browser chromium|firefox] [--width N] [--height N] [--dark] [--fragment F] PAGE...
//
// For each page FOLDER/NAME.VIEW.png and FOLDER/NAME.VIEW.N.csv, in the order of the view's buttons.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import puppeteer from 'puppeteer-core';

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: '.' },
    browser: { type: 'string', default: 'chromium' },
    width: { type: 'string', default: '1400' },
    height: { type: 'string', default: '900' },
    dark: { type: 'boolean', default: false },
    fragment: { type: 'string', default: '' },
  },
});
mkdirSync(options.out, { recursive: true });
const programs = options.browser === 'firefox' ? ['/usr/bin/firefox-esr', '/usr/bin/firefox'] : ['/usr/bin/chromium', '/usr/bin/google-chrome'];
const program = programs.find((path) => existsSync(path));
if (!program) {
  console.log(JSON.stringify({ missing: options.browser }));
  process.exit(77);
}
const browser = await puppeteer.launch({
  browser: options.browser === 'firefox' ? 'firefox' : 'chrome',
  executablePath: program,
  // Without its sandbox it runs as root and in containers, too; it sees nothing but our own pages.
  args: options.browser === 'firefox' ? [] : ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--js-flags=--expose-gc'],
  headless: true,
  defaultViewport: { width: Number(options.width), height: Number(options.height) },
});

async function settled(page) {
  // Until nothing has been asked of the reader for a moment.
  await page.waitForFunction(() => ![...document.querySelectorAll('.busy')].some((busy) => busy.textContent !== '') && document.querySelector('main')?.dataset.busy !== 'yes', { timeout: 60000, polling: 'raf' });
}

/** Presses keys as the help says, and waits for what it promises: ms until that is there and the reader has answered. What
 * is refined when nobody moves is not in them. */
async function pressed(page) {
  const took = {};
  // Timed in the page, from the event to the first frame that has it while nothing is being worked on: what goes back and
  // forth between this program and the browser takes longer than most of them. `asks`: the reader is asked for it.
  const press = async (name, key, there, asks = false) => {
    await page.evaluate(`addEventListener('keydown', (event) => {
      const isThere = ${there};
      window.took = null;
      const main = document.querySelector('main');
      let asked = ${!asks};
      const observer = new MutationObserver(() => { asked ||= main.dataset.busy === 'yes'; });
      observer.observe(main, { attributeFilter: ['data-busy'] });
      const look = () => {
        if (!asked || !isThere() || main.dataset.busy === 'yes') return void requestAnimationFrame(look);
        observer.disconnect();
        window.took = performance.now() - event.timeStamp;
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true })`);
    await page.keyboard.press(key);
    try {
      took[name] = Math.round(await (await page.waitForFunction(() => window.took, { timeout: 5000, polling: 'raf' })).jsonValue());
    } catch {
      throw new Error(`${key} pressed: ${name} is not there`);
    }
    await settled(page);
  };
  await page.evaluate(() => document.activeElement?.blur());
  await press('overview', '1', () => document.querySelector('main')?.dataset.view === 'overview');
  await press('timeline', '2', () => document.querySelector('main')?.dataset.view === 'timeline' && document.querySelector('main canvas'));
  await page.evaluate(() => document.querySelector('main canvas').focus());
  await press('zoom', 'w', () => location.hash.includes('from='), true);
  await page.evaluate(() => { window.before = location.hash; });
  await press('later', 'd', () => location.hash !== window.before, true);
  await page.evaluate(() => { window.before = location.hash; });
  await press('earlier', 'ArrowLeft', () => location.hash !== window.before, true);
  await press('whole run', '0', () => !location.hash.includes('from='), true);
  await press('help', '?', () => document.querySelector('[role=dialog]'));
  await press('no help', 'Escape', () => !document.querySelector('[role=dialog]'));
  await press('search', '/', () => document.querySelector('main')?.dataset.view === 'calls' && document.activeElement?.id === 'search');
  return took;
}

/** MB of the largest of the browser's processes that show pages. */
async function memoryOfTab() {
  const asked = await browser.target().createCDPSession();
  const { processInfo } = await asked.send('SystemInfo.getProcessInfo');
  await asked.detach();
  const sizes = processInfo.filter((one) => one.type === 'renderer').map((one) => {
    try {
      return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${one.id}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1e3;
    } catch {
      return 0;
    }
  });
  return Math.round(Math.max(0, ...sizes));
}

const told = [];
for (const path of pages) {
  const name = basename(path).replace(/\.html$/, '');
  const page = await browser.newPage();
  const one = { page: name, errors: [], views: {} };
  told.push(one);
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && one.errors.push(message.text()));
  page.on('pageerror', (error) => one.errors.push(String(error)));
  page.on('request', (request) => /^https?:/.test(request.url()) && !path.startsWith('http') && one.errors.push(`loads ${request.url()}`));
  page.on('dialog', (dialog) => {
    one.errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  if (options.dark) await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await page.evaluateOnNewDocument(() => {
    window.copied = [];
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => void window.copied.push(text) } });
  });
  const begin = performance.now();
  await page.goto((path.startsWith('http') ? path : `file://${resolve(path)}`) + options.fragment);
  try {
    await page.waitForSelector('main', { timeout: 60000 });
    one.title = await page.$eval('h1', (title) => title.textContent);
    one.first_picture_ms = Math.round(performance.now() - begin);
    await page.waitForFunction(() => document.querySelector('main')?.dataset.open !== 'no', { timeout: 60000 });
    one.open_ms = Math.round(performance.now() - begin);
    if ((await page.$eval('main', (main) => main.dataset.open)) !== 'yes') one.errors.push(await page.$eval('.chosen', (all) => all.textContent));
    if (options.fragment !== '') {
      await settled(page);
      await page.screenshot({ path: join(options.out, `${name}.png`) });
      one.labels = await page.$$eval('main canvas', (all) => all.map((canvas) => canvas.getAttribute('aria-label')));
    }
    const views = options.fragment === '' ? await page.$$eval('nav a', (all) => all.map((a) => a.getAttribute('href').slice(1).split('?')[0])) : [];
    for (const view of views) {
      const clicked = performance.now();
      await page.evaluate((wanted) => [...document.querySelectorAll('nav a')].find((a) => a.getAttribute('href').slice(1).split('?')[0] === wanted).click(), view);
      await page.waitForSelector(`main[data-view="${view}"]`, { timeout: 60000 });
      await settled(page);
      const looked = { ms: Math.round(performance.now() - clicked) };
      one.views[view] = looked;
      await page.screenshot({ path: join(options.out, `${name}.${view}.png`) });
      looked.warnings = await page.$$eval('main .warn', (all) => all.map((each) => each.textContent).filter((text) => text !== ''));
      if (options.browser !== 'firefox') {
        await page.evaluate(() => gc());
        looked.memory_mb = await memoryOfTab();
      }
      looked.text = await page.$eval('main', (main) => main.innerText.length);
      looked.labels = await page.$$eval('main canvas', (all) => all.map((canvas) => canvas.getAttribute('aria-label')));
      // A canvas of one colour shows nothing.
      looked.blank = await page.$$eval('main canvas', (all) => all.filter((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const first = data.slice(0, 4).join();
        for (let i = 4; i < data.length; i += 4) if (data.slice(i, i + 4).join() !== first) return false;
        return true;
      }).length);
      const copies = await page.evaluate(async () => {
        window.copied = [];
        for (const button of document.querySelectorAll('main button')) {
          if (button.textContent !== 'CSV') continue;
          const before = window.copied.length;
          button.click();
          for (let waited = 0; window.copied.length === before && waited < 5000; ++waited) await new Promise((done) => setTimeout(done, 1));
        }
        return window.copied;
      });
      copies.forEach((text, i) => writeFileSync(join(options.out, `${name}.${view}.${i}.csv`), text));
      looked.csv = copies.length;
    }
    one.memory_mb = Math.max(0, ...Object.values(one.views).map((looked) => looked.memory_mb ?? 0));
    if (options.fragment === '') one.keys_ms = await pressed(page);
  } catch (error) {
    one.errors.push(String(error));
    await page.screenshot({ path: join(options.out, `${name}.failed.png`) }).catch(() => {});
  }
  await page.close();
}
await browser.close();
console.log(JSON.stringify(told, null, 1));
