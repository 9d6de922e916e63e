import type { Browser, BrowserContext, Page } from "@playwright/test";
import { ensureBuilt } from "../tests/browser/web-server.ts";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import {
  addMarks,
  keyToFrame,
  loadedBytes,
  markOf,
  openBrowser,
  openTimed,
  signIn,
  typeTimed,
  waitFor,
} from "./harness/browser.ts";
import { median, percentile } from "./harness/numbers.ts";
import { type Server, startServer } from "./harness/server.ts";

const KB = 1000;
const MODULES = 10;
const MODULE_STEPS = 1_000;
/** A run of 10,000 steps takes half a minute. */
const RUN_MAX_MS = 300_000;
const YAML_LINES = 500;
const LIST = `document.querySelector('main a[href^="/d/"]') !== null`;
const TEXT = `document.querySelector('main [contenteditable="true"]') !== null`;
const SOURCE = `document.querySelector('.cm-content') !== null`;

await runBenchmark({
  name: "web",
  what: "The web interface in headless Chromium over loopback",
  peer: "La Suite Docs 5: a document of 392 KB (brotli) synced after 552 ms",
  measure: async ({ brief }) => {
    await ensureBuilt();
    const server = await startServer({
      env: { API_DOCUMENT_THROTTLE_RATE: "1000000/minute", CONVERSION_UPLOAD_ENABLED: "true" },
    });
    const browser = await openBrowser();
    const rounds = brief ? 1 : 5;
    const keys = brief ? 5 : 60;
    const small = await createDocument(server, 100);
    const large = await createDocument(server, brief ? 200 : 5_000);
    await server.storeWorkflow(longWorkflow());
    const bare = await typeInBarePage(browser, keys);
    const context = await signIn(browser, server);
    const workflow = `${server.url}/workflows/long`;
    const figures: [Figure, ...Figure[]] = [
      {
        what: "scripts and styles of the list of documents, gzip, all that it loads",
        value: (await loadedBytes(context, server.url, LIST)) / KB,
        unit: "KB",
        target: 140,
      },
      {
        what: "the same of a document",
        value: (await loadedBytes(context, `${server.url}/d/${small}`, TEXT)) / KB,
        unit: "KB",
        target: 440,
      },
      {
        what: "the same of the editor of a workflow",
        value: (await loadedBytes(context, workflow, SOURCE)) / KB,
        unit: "KB",
        target: 330,
      },
      {
        what: "list of documents, empty cache, to its first row",
        value: await medianOpening(browser, server, server.url, LIST, rounds),
        unit: "ms",
        target: 350,
      },
      {
        what: "document of 100 blocks, empty cache, to its text",
        value: await medianOpening(browser, server, `${server.url}/d/${small}`, TEXT, rounds),
        unit: "ms",
        target: 650,
      },
      ...(await typing(context, `${server.url}/d/${small}`, TEXT, "document of 100 blocks", 16, keys)),
      ...(await typing(context, `${server.url}/d/${large}`, TEXT, "document of 5,000 blocks", 50, keys)),
      ...(await typing(context, workflow, SOURCE, `YAML of ${YAML_LINES} lines`, 30, keys)),
      {
        what: "key to the other browser's screen p50",
        value: median(await keysToOtherScreen(browser, server, small, keys)),
        unit: "ms",
        target: 40,
      },
      ...(await timeline(context, server, brief)),
      {
        what: "event to the screen of the explorer p50",
        value: median(await eventsToScreen(context, server, brief ? 3 : 20)),
        unit: "ms",
        target: 100,
      },
      {
        what: "end of a step to the page of its run p50",
        value: median(await stepsToScreen(context, server, brief ? 1 : 10)),
        unit: "ms",
        target: 100,
      },
    ];
    return { figures, baseline: { bare_text_field_key_to_frame_p50_ms: bare } };
  },
});

/** Creates a document with this number of paragraphs, and returns its id. */
async function createDocument(server: Server, blocks: number): Promise<string> {
  const markdown = Array.from({ length: blocks }, (_, at) => `Paragraph ${at} of a text for measurements.`);
  const form = new FormData();
  form.set("file", new File([markdown.join("\n\n")], "text.md"));
  const response = await fetch(`${server.url}/api/v1.0/documents/`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}` },
    body: form,
  });
  const body = (await response.json()) as { id: string };
  if (!response.ok) throw new Error(`a document of ${blocks} blocks: ${JSON.stringify(body)}`);
  return body.id;
}

function longWorkflow(): string {
  const steps = Array.from({ length: (YAML_LINES - 2) / 3 }, (_, at) =>
    [`  - name: step-${at}`, "    type: bash", `    command: echo ${at}`].join("\n"),
  );
  return ["name: long", "steps:", ...steps, ""].join("\n");
}

/** What a key costs in an editable element without any code. */
async function typeInBarePage(browser: Browser, keys: number): Promise<number> {
  const page = await browser.newPage();
  await page.setContent("<div contenteditable>text</div>");
  await addMarks(page);
  await page.locator("div").click();
  const p50 = keyToFrame(await typeTimed(page, keys), 0.5);
  await page.close();
  return p50;
}

async function medianOpening(
  browser: Browser,
  server: Server,
  address: string,
  isThere: string,
  rounds: number,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const context = await signIn(browser, server);
    const { page, ms } = await openTimed(context, address, isThere);
    times.push(ms);
    await page.close();
    await context.close();
  }
  return median(times);
}

async function typing(
  context: BrowserContext,
  address: string,
  isThere: string,
  what: string,
  target: number,
  keys: number,
): Promise<Figure[]> {
  const { page } = await openTimed(context, address, isThere);
  await focusText(page);
  const times = await typeTimed(page, keys);
  await page.close();
  return [
    { what: `${what}: key to frame p50`, value: keyToFrame(times, 0.5), unit: "ms", target },
    { what: `${what}: key to frame p95`, value: keyToFrame(times, 0.95), unit: "ms" },
  ];
}

async function focusText(page: Page): Promise<void> {
  await page
    .locator('main [contenteditable="true"]')
    .last()
    .click({ position: { x: 200, y: 20 } });
}

async function keysToOtherScreen(
  browser: Browser,
  server: Server,
  id: string,
  count: number,
): Promise<number[]> {
  const address = `${server.url}/d/${id}`;
  const [writer, reader] = [
    await openTimed(await signIn(browser, server), address, TEXT),
    await openTimed(await signIn(browser, server), address, TEXT),
  ];
  await reader.page.evaluate(`
    window.changes = [];
    const text = document.querySelector('main [contenteditable="true"]');
    let length = text.textContent.length;
    new MutationObserver(() => {
      const now = text.textContent.length;
      for (; length < now; length += 1) window.afterFrame((at) => window.changes.push(at));
    }).observe(text, { subtree: true, childList: true, characterData: true });
  `);
  await focusText(writer.page);
  const keys = await typeTimed(writer.page, count);
  await waitFor(reader.page, `window.changes.length >= ${count}`);
  const changes = await reader.page.evaluate<number[]>("window.changes");
  await writer.page.close();
  await reader.page.close();
  // The name at the other user's cursor may add characters: only changes that follow their key count.
  return keys.flatMap(({ pressedAt }) => {
    const shownAt = changes.find((at) => at > pressedAt);
    return shownAt === undefined ? [] : [shownAt - pressedAt];
  });
}

async function timeline(context: BrowserContext, server: Server, brief: boolean): Promise<Figure[]> {
  const steps = brief ? 10 : MODULE_STEPS;
  const names = Array.from({ length: MODULES }, (_, at) => `many-${at}`);
  for (const name of names) {
    const lines = Array.from(
      { length: steps },
      (_, at) => `  - {name: s${at}, type: function, function: "1"}`,
    );
    await server.storeWorkflow([`name: ${name}`, "steps:", ...lines, ""].join("\n"));
  }
  const modules = names.map((name) => `  - {name: ${name}, path: ${name}}`);
  await server.storeWorkflow(["kind: flow", "name: many", "modules:", ...modules, ""].join("\n"));
  const runId = await server.startRun({ flow: "many" });
  const end = performance.now() + RUN_MAX_MS;
  while ((await server.get<{ data: { status: string } }>(`/runs/${runId}`)).data.status !== "completed") {
    if (performance.now() > end) throw new Error("the run of 10,000 steps has not ended");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const isThere = `document.querySelectorAll('main li a').length > 10`;
  const { page, ms } = await openTimed(context, `${server.url}/runs/${runId}?view=timeline`, isThere);
  const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
    const scrolled = [...document.querySelectorAll("main *"), document.scrollingElement]
      .filter((element) => element.scrollHeight > element.clientHeight + 1000)
      .sort((a, b) => b.scrollHeight - a.scrollHeight)[0];
    const frames = [];
    let last = performance.now();
    const next = (now) => {
      frames.push(now - last);
      last = now;
      if (frames.length > 180) return resolve(frames.slice(1));
      scrolled.scrollTop += 400;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`);
  await page.close();
  return [
    { what: `timeline of ${MODULES * steps} steps: opening`, value: ms, unit: "ms", target: 1_000 },
    { what: "the same: frame while scrolling p95", value: percentile(frames, 0.95), unit: "ms", target: 20 },
  ];
}

async function eventsToScreen(context: BrowserContext, server: Server, count: number): Promise<number[]> {
  const { page } = await openTimed(
    context,
    `${server.url}/events?source=api`,
    "document.querySelector('main h1') !== null",
  );
  await page.getByText("Live").first().waitFor();
  const times: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const topic = `bench.event-${sent}x`;
    await page.evaluate(
      `window.watch("event${sent}", () => document.querySelector("main").textContent.includes("${topic}"))`,
    );
    const sentAt = Date.now();
    await server.emit({ topic });
    times.push((await markOf(page, `event${sent}`)) - sentAt);
    await page.waitForTimeout(200);
  }
  await page.close();
  return times;
}

async function stepsToScreen(context: BrowserContext, server: Server, count: number): Promise<number[]> {
  await server.storeWorkflow(
    [
      "name: slow",
      "steps:",
      "  - {name: first, type: bash, command: sleep 2}",
      "  - {name: second, type: bash, command: sleep 1}",
      "",
    ].join("\n"),
  );
  const times: number[] = [];
  for (let started = 0; started < count; started += 1) {
    const runId = await server.startRun({ module: "slow" });
    const isThere = `[...document.querySelectorAll("main li")].some((row) => /first[^]*Completed/.test(row.textContent))`;
    const { page } = await openTimed(
      context,
      `${server.url}/runs/${runId}`,
      "document.querySelector('main h1') !== null",
    );
    await page.evaluate(`window.watch("end", () => ${isThere})`);
    const shownAt = await markOf(page, "end");
    await server.waitForRun(runId);
    const step = (await server.steps(runId)).first;
    if (step?.started_at == null) throw new Error("the step has no start");
    times.push(shownAt - (Date.parse(step.started_at) + step.duration_ms));
    await page.close();
  }
  return times;
}
