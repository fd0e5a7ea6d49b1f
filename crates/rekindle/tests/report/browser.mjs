// Opens one report in Chromium and prints what it sees, as JSON: `node browser.mjs JOURNEY FILE [FOLDER]`.
// The tests judge; nothing is decided here.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [journey, file, folder] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(process.env.REKINDLE_TEST_PLAYWRIGHT).href);
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.REKINDLE_TEST_CHROMIUM || "/usr/bin/chromium", args });
const address = pathToFileURL(file).href;
const trouble = [];

/** Opens the report; everything that goes wrong or leaves the file is kept. */
const open = async (options) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("request", (request) => { if (request.url() !== address) trouble.push(`request: ${request.url()}`); });
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error}`));
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(address);
  return page;
};

const journeys = {
  /** In both themes and two widths: what axe finds, and whether the page is wider than the screen. */
  async looks() {
    const axe = readFileSync(process.env.REKINDLE_TEST_AXE, "utf8");
    const seen = [];
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1440, 390]) {
        const page = await open({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
        if (folder && width > 1000) await page.screenshot({ path: `${folder}/report-${colorScheme}.png`, clip: { x: 0, y: 0, width, height: 1290 }, fullPage: true });
        await page.addScriptTag({ content: axe });
        const found = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }));
        const violations = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join("; ")}`);
        const excess = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
        seen.push({ colorScheme, width, violations, passes: found.passes.length, excess });
        await page.context().close();
      }
    }
    return seen;
  },

  /** What a hostile text has made of the page. */
  async hostile() {
    const page = await open({});
    const texts = {};
    for (const task of await page.locator(".rows tbody button").all()) {
      await task.click();
      for (const tab of await page.locator("[role=tab]").all()) {
        await tab.click();
        const name = (await tab.innerText()).replace(/ \d+$/, "");
        texts[name] = (texts[name] ?? "") + await page.locator("[role=tabpanel]").innerText();
      }
    }
    return {
      title: await page.title(),
      heading: await page.locator("h1").innerText(),
      listed: await page.locator(".rows tbody button").allInnerTexts(),
      elements: await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, link, base, form, textarea, [onload], [onerror], [style]:not(td)").length),
      scripts: await page.evaluate(() => document.scripts.length),
      texts,
    };
  },

  /** The way through a report without a mouse. */
  async keys() {
    const page = await open({});
    const at = () => page.evaluate(() => document.querySelector(".rows tr.on")?.querySelector("code")?.textContent ?? "");
    const seen = { begin: await at() };
    await page.keyboard.press("Tab");
    seen.first = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("n");
    seen.needing = await at();
    await page.keyboard.press("k");
    seen.up = await at();
    await page.keyboard.press("j");
    seen.down = await at();
    seen.focused = await page.evaluate(() => document.activeElement.closest("tr")?.querySelector("code")?.textContent);
    await page.locator("[role=tab][aria-selected=true]").focus();
    await page.keyboard.press("ArrowRight");
    seen.tab = await page.evaluate(() => document.activeElement.textContent);
    seen.panel = await page.locator("[role=tabpanel]").innerText();
    await page.keyboard.press("o");
    seen.open = await page.locator(".rows tbody button").count();
    await page.keyboard.press("/");
    await page.keyboard.type("load");
    seen.found = await page.locator(".rows tbody button").allInnerTexts();
    seen.told = await page.locator("[role=status]").innerText();
    // Every stop of the Tab key is to be seen.
    await page.evaluate(() => document.activeElement.blur());
    const unseen = [];
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const one = document.activeElement, box = one.getBoundingClientRect();
        return { name: one.tagName, end: one === document.body, seen: box.width > 1 && box.height > 1, outline: getComputedStyle(one).outlineStyle };
      });
      if (stop.end) break;
      if (!stop.seen || stop.outline === "none") unseen.push(stop);
    }
    seen.unseen = unseen;
    return seen;
  },

  /** The same report without scripts. */
  async still() {
    const page = await open({ javaScriptEnabled: false });
    const box = (selector) => page.locator(selector).first().boundingBox();
    return {
      heading: await page.locator("h1").innerText(),
      story: await page.locator(".story").innerText(),
      timeline: (await box(".wide svg"))?.height ?? 0,
      graph: (await box("section[aria-labelledby=h-graph] svg"))?.height ?? 0,
      rows: await page.locator("table.all tbody tr").allInnerTexts(),
    };
  },

  /** Scrolls a long list for five seconds: the longest task of the main thread, in milliseconds of its own time. */
  async scroll() {
    const page = await open({});
    await page.locator(".rows").scrollIntoViewIfNeeded();
    const box = await page.locator(".rows").boundingBox();
    await page.mouse.move(box.x + 50, box.y + 100);
    await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] });
    const until = Date.now() + 5000;
    let n = 0;
    while (Date.now() < until) {
      await page.mouse.wheel(0, n++ % 40 < 20 ? 4000 : -1500);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    const trace = JSON.parse((await browser.stopTracing()).toString());
    const main = trace.traceEvents.find((event) => event.name === "thread_name" && event.args.name === "CrRendererMain");
    const tasks = trace.traceEvents.filter((event) => event.ph === "X" && event.tid === main.tid && event.pid === main.pid && /RunTask/.test(event.name));
    const longest = Math.max(...tasks.map((task) => (task.tdur ?? task.dur) / 1000));
    const top = await page.locator(".rows").evaluate((rows) => rows.scrollTop);
    return { longest, tasks: tasks.length, steps: n, top, rows: await page.locator(".rows tbody tr").count(), all: await page.locator(".rows table").getAttribute("aria-rowcount") };
  },
};

const seen = await journeys[journey]();
await browser.close();
console.log(JSON.stringify({ seen, trouble }));
