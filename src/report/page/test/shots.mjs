import puppeteer from 'puppeteer-core';
const [out, ...pages] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--headless=new'], defaultViewport: { width: 1400, height: 900 } });
for (const path of pages) {
  const page = await browser.newPage();
  const errors = [];
  page.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
  page.on('pageerror', (e) => errors.push(String(e)));
  const t = Date.now();
  await page.goto('file://' + path);
  await page.waitForSelector('main');
  const t1 = Date.now() - t;
  await page.waitForFunction(() => document.querySelector('main')?.dataset.open !== 'no', { timeout: 20000 }).catch(() => errors.push('not opened'));
  const views = await page.$$eval('nav a', (all) => all.map((a) => a.textContent));
  console.log(path, 'first picture', t1, 'ms; open', Date.now() - t, views.length);
  const name = path.split('/').pop().replace('.html', '');
  for (let i = 0; i < views.length; ++i) {
    await page.evaluate((i) => document.querySelectorAll('nav a')[i].click(), i);
    await new Promise((r) => setTimeout(r, 400));
    await page.screenshot({ path: `${out}/${name}-${i + 1}-${views[i].replace(/ /g, '_')}.png` });
  }
  console.log(errors);
  await page.close();
}
await browser.close();
