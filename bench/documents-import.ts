import { setTimeout as sleep } from "node:timers/promises";
import { wordDocument, zipOf } from "../lib/testing/test-imports.ts";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { markdownOf } from "./harness/document-content.ts";
import { measureEcho } from "./harness/echo.ts";
import { percentile } from "./harness/numbers.ts";
import { cpuMs, peakOf } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const MARKDOWN_BYTES = 1_000_000;
/** LibreOffice lays them out on 100 pages of A4. */
const SECTIONS = 425;
const PAGES = 1_000;
const PAGE_BYTES = 2_000;
/** Seconds. */
const TARGETS = { markdown: 1.5, word: 2, archive: 30 } as const;
const WARM_UP = 1;
const ROUNDS = 5;
const API = "/api/v1.0";

await runBenchmark({
  name: "documents-import",
  what: "Import of 1 MB of Markdown, a DOCX of 100 pages, and a zip of 1,000 pages",
  peer: "not measured: it needs two more services",
  measure: async ({ brief }) => {
    const echo = await measureEcho({ count: brief ? 10 : 5_000 });
    const server = await startServer({
      env: {
        API_DOCUMENT_THROTTLE_RATE: "off",
        CONVERSION_UPLOAD_ENABLED: "true",
        CONVERSION_FILE_EXTENSIONS_ALLOWED: ".docx,.md,.zip",
      },
    });
    const files = [
      {
        what: "1 MB of Markdown",
        name: "a.md",
        bytes: Buffer.from(markdownOf(brief ? 10_000 : MARKDOWN_BYTES)),
        target: TARGETS.markdown,
      },
      {
        what: "a DOCX of 100 pages",
        name: "a.docx",
        bytes: await wordDocument(brief ? 2 : SECTIONS),
        target: TARGETS.word,
      },
    ];
    const figures: Figure[] = [];
    for (const { what, name, bytes, target } of files) {
      for (let round = 0; round < (brief ? 0 : WARM_UP); round += 1) await importAtOnce(server, name, bytes);
      const rounds = brief ? 1 : ROUNDS;
      const before = cpuMs(server.pid);
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const begin = performance.now();
        await importAtOnce(server, name, bytes);
        times.push((performance.now() - begin) / 1_000);
      }
      const cpu = (cpuMs(server.pid) - before) / rounds / 1_000;
      figures.push({ what: `${what}: p50`, value: percentile(times, 0.5), unit: "s", target });
      figures.push({ what: `${what}: CPU`, value: cpu, unit: "s" });
    }
    const pages = brief ? 20 : PAGES;
    const archive = await archiveOf(pages);
    const memory = peakOf(server.pid);
    const before = cpuMs(server.pid);
    const begin = performance.now();
    const root = await importByJob(server, archive);
    const seconds = (performance.now() - begin) / 1_000;
    const what = "a zip of 1,000 pages";
    figures.push({ what, value: seconds, unit: "s", target: TARGETS.archive });
    figures.push({ what: `${what}: CPU`, value: (cpuMs(server.pid) - before) / 1_000, unit: "s" });
    figures.push({ what: `${what}: more memory at most`, value: memory(), unit: "MB" });
    await expectTree(server, root, pages);
    await server.stop();
    const [first, ...rest] = figures;
    if (first === undefined) throw new Error("nothing was imported");
    return { figures: [first, ...rest], baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs } };
  },
});

async function send(server: Server, name: string, bytes: Uint8Array): Promise<Response> {
  const form = new FormData();
  form.append("file", new File([Buffer.from(bytes)], name));
  return fetch(`${server.url}${API}/documents/`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}` },
    body: form,
  });
}

async function importAtOnce(server: Server, name: string, bytes: Uint8Array): Promise<void> {
  const response = await send(server, name, bytes);
  const { skipped } = (await response.json()) as { skipped?: string[] };
  if (response.status !== 201 || skipped !== undefined)
    throw new Error(`the import answered ${response.status}: ${skipped?.join()}`);
}

/** Returns the id of the imported root. */
async function importByJob(server: Server, bytes: Uint8Array): Promise<string> {
  const started = await send(server, "pages.zip", bytes);
  const job = (await started.json()) as { id: string };
  for (;;) {
    const { json } = await server.call("GET", `/${API}/imports/${job.id}/`);
    const { status, document, error, skipped } = json as {
      status: string;
      document: string;
      error: string;
      skipped: string[];
    };
    if (status === "failed" || skipped.length > 0) throw new Error(`the import failed: ${error ?? skipped}`);
    if (status === "succeeded") return document;
    await sleep(100);
  }
}

/** Ten folders of pages that link to their neighbours. */
function archiveOf(pages: number): Promise<Buffer> {
  const text = markdownOf(PAGE_BYTES);
  const entries = Array.from({ length: pages }, (_, at) => [
    `Folder ${at % 10}/Page ${at}.md`,
    `# Page ${at}\n\n[next](Page%20${(at + 10) % pages}.md)\n\n${text}`,
  ]);
  return zipOf(Object.fromEntries(entries));
}

async function expectTree(server: Server, root: string, pages: number): Promise<void> {
  const { json } = await server.call("GET", `/${API}/documents/${root}/children/`);
  const { results } = json as { results: { numchild: number }[] };
  const found = results.reduce((sum, { numchild }) => sum + numchild, 0);
  if (results.length !== 10 || found !== pages) throw new Error(`${found} of ${pages} pages were imported`);
}
