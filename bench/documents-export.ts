import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { markdownOf, stateOfMarkdown } from "./harness/document-content.ts";
import { measureEcho } from "./harness/echo.ts";
import { percentile } from "./harness/numbers.ts";
import { cpuMs, peakOf } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

/** Fifty pages of A4 in the PDF. */
const CONTENT_BYTES = 72_000;
/** CPU time of all processes per export, milliseconds. */
const FORMATS = [
  { format: "html", target: 150 },
  { format: "docx", target: 400 },
  { format: "odt", target: 400 },
  { format: "pdf", target: 500 },
] as const;
const WARM_UP = 3;
const ROUNDS = 8;
const TREE = 1_000;
/** Of the root of the tree. */
const CHILDREN = 10;
const TREE_SECONDS = 20;
const TREE_MORE_MB = 150;
const CREATED_AT_ONCE = 8;
const READS = 400;
const EXPORTS_AT_ONCE = 10;
const SLOWER_MAX = 3;
const API = "/api/v1.0";

await runBenchmark({
  name: "documents-export",
  what: "Export of 50 pages, CPU of all processes; a zip of 1,000 documents; reads during ten exports",
  peer: "not measured: its editor exports in the browser",
  measure: async ({ brief }) => {
    const echo = await measureEcho({ count: brief ? 10 : 5_000 });
    const server = await startServer({ env: { API_DOCUMENT_THROTTLE_RATE: "off" } });
    const page = await createPage(server, await stateOfMarkdown(markdownOf(brief ? 5_000 : CONTENT_BYTES)));
    const pages = pagesOf(await exportAs(server, page, "pdf"));
    const figures: Figure[] = [];
    for (const { format, target } of FORMATS) {
      for (let round = 0; round < (brief ? 1 : WARM_UP); round += 1) await exportAs(server, page, format);
      const rounds = brief ? 1 : ROUNDS;
      const before = cpuMs(server.pid);
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const begin = performance.now();
        await exportAs(server, page, format);
        times.push(performance.now() - begin);
      }
      const cpu = (cpuMs(server.pid) - before) / rounds;
      figures.push({ what: `${format} of 50 pages: CPU`, value: cpu, unit: "ms", target });
      figures.push({ what: `${format} of 50 pages: p50`, value: percentile(times, 0.5), unit: "ms" });
    }
    const tree = await createTree(server, brief ? 20 : TREE);
    const memory = peakOf(server.pid);
    const begin = performance.now();
    await exportTree(server, tree);
    const seconds = (performance.now() - begin) / 1_000;
    figures.push({ what: "zip of 1,000 documents", value: seconds, unit: "s", target: TREE_SECONDS });
    figures.push({ what: "zip: more memory at most", value: memory(), unit: "MB", target: TREE_MORE_MB });
    const alone = await readTimes(server, page, brief ? 10 : READS);
    const exporting = Promise.all(
      Array.from({ length: EXPORTS_AT_ONCE }, (_, at) =>
        exportAs(server, page, FORMATS[at % 4]?.format ?? "pdf"),
      ),
    );
    const during = await readTimes(server, page, brief ? 10 : READS);
    await exporting;
    const [p99, p99During] = [percentile(alone, 0.99), percentile(during, 0.99)];
    figures.push({
      what: "read p99 during ten exports, times that without",
      value: p99During / p99,
      unit: "x",
      target: SLOWER_MAX,
    });
    await server.stop();
    const [first, ...rest] = figures;
    if (first === undefined) throw new Error("nothing was exported");
    return {
      figures: [first, ...rest],
      baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs, read_p99_ms: p99 },
      details: { pages, read_p99_during_exports_ms: p99During },
    };
  },
});

/** Number of pages of a PDF as Typst writes it. */
function pagesOf(pdf: Buffer): number {
  return pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

function authorized({ token }: Server): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function createPage(server: Server, state: Uint8Array, parent?: string): Promise<string> {
  const path = parent === undefined ? "documents/" : `documents/${parent}/children/`;
  const created = await server.call("POST", `/${API}/${path}`, { body: { title: "Page" } });
  const { id } = created.json as { id: string };
  const saved = await server.call("PATCH", `/${API}/documents/${id}/content/`, {
    body: { content: Buffer.from(state).toString("base64") },
  });
  if (saved.status !== 204) throw new Error(`saving answered ${saved.status}`);
  return id;
}

/** A root with ten children, which have the others below them. */
async function createTree(server: Server, size: number): Promise<string> {
  const state = await stateOfMarkdown(markdownOf(2_000));
  const root = await createPage(server, state);
  const parents: string[] = [];
  while (parents.length < Math.min(CHILDREN, size - 1)) parents.push(await createPage(server, state, root));
  let remaining = size - 1 - parents.length;
  const create = async (): Promise<void> => {
    while (remaining > 0) {
      remaining -= 1;
      await createPage(server, state, parents[remaining % CHILDREN]);
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, create));
  return root;
}

async function exportAs(server: Server, id: string, format: string): Promise<Buffer> {
  const response = await fetch(`${server.url}${API}/documents/${id}/export/?export_format=${format}`, {
    headers: authorized(server),
  });
  const file = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200 || file.length < 1_000)
    throw new Error(`the export answered ${response.status}`);
  return file;
}

async function exportTree(server: Server, id: string): Promise<void> {
  const started = await fetch(`${server.url}${API}/documents/${id}/export/?with_descendants=true`, {
    headers: authorized(server),
  });
  const job = (await started.json()) as { id: string };
  for (;;) {
    const { json } = await server.call("GET", `/${API}/exports/${job.id}/`);
    const { status, url, error } = json as { status: string; url: string; error: string };
    if (status === "failed") throw new Error(`the export failed: ${error}`);
    if (status === "done") {
      const { byteLength } = await (await fetch(url)).arrayBuffer();
      if (byteLength < 1_000) throw new Error("the zip is empty");
      return;
    }
    await sleep(100);
  }
}

async function readTimes(server: Server, id: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const begin = performance.now();
    const response = await fetch(`${server.url}${API}/documents/${id}/`, { headers: authorized(server) });
    await response.arrayBuffer();
    times.push(performance.now() - begin);
    await sleep(5);
  }
  return times;
}
