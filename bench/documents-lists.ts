import type { Figure } from "./harness/benchmark.ts";
import { runBenchmark } from "./harness/benchmark.ts";
import { documentData, titleOf } from "./harness/document-data.ts";
import { measureEcho } from "./harness/echo.ts";
import { filledFolder } from "./harness/filled.ts";
import { sendLoad } from "./harness/load.ts";
import { cpuMs } from "./harness/processes.ts";
import { countOf } from "./harness/records.ts";
import { type Server, startServer } from "./harness/server.ts";

const SIZES = [10_000, 110_000] as const;
const BRIEF_SIZE = 600;
const PAGE_SIZE = 20;
const LIST_MS = 4;
const SEARCH_MS = 8;
const WARM_UP_SECONDS = 0.3;

/** One request, and what it must answer. */
interface Asked {
  readonly name: string;
  readonly path: string;
  readonly token: string;
  readonly count: number;
  readonly length: number;
  readonly target: number;
}

await runBenchmark({
  name: "documents-lists",
  what: "Lists of documents and the search by title at 10,000 and 110,000, 20 a page, one connection, p50",
  peer: "88 to 360 ms; page 500: no answer in 120 s",
  measure: async ({ brief }) => {
    const seconds = brief ? 0.05 : 2;
    const get = { name: "get", method: "GET", path: "/" };
    const echo = await measureEcho({ connections: 1, kinds: [get], seconds });
    const figures: Figure[] = [];
    const details: Record<string, number> = {};
    for (const size of brief ? [BRIEF_SIZE] : SIZES.slice(0, sizesAsked())) {
      const server = await startServer({ dataDir: await filledFolder("documents", size) });
      for (const asked of await questions(server, size)) {
        const { p50, first, cpu } = await time(server, asked, seconds);
        const what = `${asked.name} of ${size} documents`;
        figures.push({ what, value: p50, unit: "ms", target: asked.target });
        details[`${what}: CPU ms`] = cpu;
        details[`${what}: first ms`] = first;
      }
      await server.stop();
    }
    const [first, ...rest] = figures;
    if (first === undefined) throw new Error("nothing was asked");
    return { figures: [first, ...rest], baseline: { echo_p50_ms: echo.p50 }, details };
  },
});

/** All sizes, unless `WEFT_BENCH_SIZES` says how many. */
function sizesAsked(): number {
  return Number(process.env.WEFT_BENCH_SIZES ?? SIZES.length);
}

async function questions(server: Server, size: number): Promise<Asked[]> {
  const { trees, inTrees, deepFlat, wideRows, smallRows } = documentData(size);
  const token = async (name: string): Promise<string> => {
    const body = { email: `${name}@example.com`, name: "benchmark" };
    const { json } = await server.call("POST", "//api/v1.0/access-tokens/", { body });
    return (json as { token: string }).token;
  };
  const [deep, wide, small] = [await token("deep"), await token("wide"), await token("small")];
  const list = (name: string, who: string, count: number, page = 1): Asked => ({
    ...{ name, token: who, count, target: LIST_MS },
    path: `/api/v1.0/documents/?page_size=${PAGE_SIZE}&page=${page}`,
    length: Math.min(PAGE_SIZE, count - (page - 1) * PAGE_SIZE),
  });
  const search = (name: string, who: string, from: number, rows: number): Asked => {
    const count = countOf(
      rows,
      (number) => titleOf(from + number),
      (title) => title.includes("année 1977"),
    );
    const path = `/api/v1.0/documents/search/?q=ANNEE%201977`;
    return { name, token: who, count, path, target: SEARCH_MS, length: Math.min(PAGE_SIZE, count) };
  };
  const last = Math.min(500, Math.ceil(wideRows / PAGE_SIZE));
  return [
    list(`list, ${smallRows} rows`, small, smallRows),
    list(`list, ${inTrees + deepFlat} rows, most in trees`, deep, trees + 1 + deepFlat),
    list(`list, ${wideRows} flat rows`, wide, wideRows),
    list(`list, ${wideRows} flat rows, page ${last}`, wide, wideRows, last),
    search(`search, ${smallRows} rows`, small, inTrees, smallRows),
    search(`search, ${inTrees + deepFlat} rows, most in trees`, deep, 0, inTrees + deepFlat),
    search(`search, ${wideRows} flat rows`, wide, inTrees, wideRows),
  ];
}

async function time(
  server: Server,
  { path, token, count, length }: Asked,
  seconds: number,
): Promise<{ p50: number; first: number; cpu: number }> {
  const begun = performance.now();
  const { json } = await server.call("GET", `/${path}`, { token });
  const first = performance.now() - begun;
  const found = json as { count: number; results: unknown[] };
  if (found.count !== count || found.results.length !== length)
    throw new Error(`${path}: ${found.results?.length} of ${found.count}, not ${length} of ${count}`);
  const kinds = [{ name: "list", method: "GET", path }];
  const load = { port: server.port, token, connections: 1, kinds };
  await sendLoad({ ...load, seconds: WARM_UP_SECONDS });
  const before = cpuMs(server.pid);
  const report = await sendLoad({ ...load, seconds });
  const cpu = (cpuMs(server.pid) - before) / report.answers;
  return { p50: report.kinds.list?.p50 ?? Number.NaN, first, cpu };
}
