import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { type DocumentData, deepestOf, idOf } from "./harness/document-data.ts";
import {
  createToken,
  type DocumentRequests,
  FiguresBySize,
  forEachSize,
  isPage,
  measureRequests,
  secondsOf,
} from "./harness/document-requests.ts";
import { measureEcho } from "./harness/echo.ts";
import { memoryOf } from "./harness/processes.ts";

const PAGE_SIZE = 20;
const CHILD_MS = 4;
const DETAIL_MS = 2;
const TREE_MS = 25;
/** Time for background work after the first request. */
const SETTLE_MS = 3_000;
const MEMORY_MB = 150;

await runBenchmark({
  name: "documents-reads",
  what: "A document ten levels down, the tree around 1,000 siblings, pages of children; one connection, p50",
  peer: "76 ms; 640 ms to 14 s; 88 and 152 ms",
  measure: async ({ brief }) => {
    const seconds = secondsOf(brief);
    const echo = await measureEcho({ seconds });
    const sized = new FiguresBySize();
    await forEachSize(brief, async (server, data, size) => {
      const token = await createToken(server, "few");
      const { status } = await server.call("GET", `//api/v1.0/documents/${idOf(data.hub)}/`, { token });
      if (status !== 200) throw new Error(`a document answered ${status}`);
      await sleep(brief ? 0 : SETTLE_MS);
      const { mb } = memoryOf(server.pid);
      for (const asked of questions(data, token))
        sized.add(asked, size, await measureRequests(server, asked, seconds));
      const what = `memory of all processes after the first request, of ${size} documents`;
      sized.figures.push({ what, value: mb, unit: "MB", target: MEMORY_MB, peer: "500 MB" });
      const later = `memory of all processes after these, of ${size} documents`;
      sized.figures.push({ what: later, value: memoryOf(server.pid).mb, unit: "MB" });
    });
    const { details } = sized;
    return { figures: sized.all(), baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs }, details };
  },
});

/** Requests of a user who owns a few documents and inherits access to the others. */
function questions(data: DocumentData, token: string): DocumentRequests[] {
  const { hub, children, levels } = data;
  const [deepest, among] = [idOf(deepestOf(data, 0)), idOf(hub + children)];
  const ask = (
    name: string,
    below: string,
    target: number,
    peer: string,
    check: (json: unknown) => void,
  ): DocumentRequests => ({
    name,
    target,
    peer,
    check,
    token,
    kinds: [{ method: "GET", path: `/api/v1.0/documents/${below}` }],
  });
  const page = (number: number, peer: string): DocumentRequests => {
    const asked = `${idOf(hub)}/children/?page_size=${PAGE_SIZE}&page=${number}`;
    const length = Math.min(PAGE_SIZE, children - (number - 1) * PAGE_SIZE);
    const name = `${children} children, page ${number}`;
    return ask(name, asked, CHILD_MS, peer, isPage(children, length));
  };
  return [
    ask(`document, level ${levels}`, `${deepest}/`, DETAIL_MS, "76 ms", (json) => {
      const { depth } = json as { depth: number };
      if (depth !== levels) throw new Error(`it lies on level ${depth}`);
    }),
    ask(`tree of ${children} siblings`, `${among}/tree/`, TREE_MS, "640 ms to 14 s", (json) => {
      const found = (json as { children: unknown[] }).children.length;
      if (found !== children) throw new Error(`${found} children`);
    }),
    page(1, "88 ms"),
    page(Math.ceil(children / PAGE_SIZE), "152 ms"),
  ];
}
