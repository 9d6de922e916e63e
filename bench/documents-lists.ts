import { runBenchmark } from "./harness/benchmark.ts";
import { type DocumentData, reachedByOwner, titleOf } from "./harness/document-data.ts";
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
import { countOf } from "./harness/records.ts";
import type { Server } from "./harness/server.ts";

const PAGE_SIZE = 20;
const LIST_MS = 4;
const SEARCH_MS = 8;

await runBenchmark({
  name: "documents-lists",
  what: "Lists of documents and the search by title at 10,000 and 110,000, 20 a page, one connection, p50",
  peer: "88 to 360 ms; page 500: no answer in 120 s",
  measure: async ({ brief }) => {
    const seconds = secondsOf(brief);
    const echo = await measureEcho({ seconds });
    const sized = new FiguresBySize();
    await forEachSize(brief, async (server, data, size) => {
      for (const asked of await questions(server, data))
        sized.add(asked, size, await measureRequests(server, asked, seconds));
    });
    const { details } = sized;
    return { figures: sized.all(), baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs }, details };
  },
});

/** Requests of a user with few rows, of one with a row for each document in trees, and of one with flat roots only. */
async function questions(server: Server, data: DocumentData): Promise<DocumentRequests[]> {
  const { trees, flat, deepFlat, wideRows, owned } = data;
  const [deep, wide, few] = [
    await createToken(server, "deep"),
    await createToken(server, "wide"),
    await createToken(server, "few"),
  ];
  const list = (name: string, token: string, peer: string, count: number, page = 1): DocumentRequests => ({
    name,
    token,
    target: LIST_MS,
    peer,
    kinds: [{ method: "GET", path: `/api/v1.0/documents/?page_size=${PAGE_SIZE}&page=${page}` }],
    check: isPage(count, Math.min(PAGE_SIZE, count - (page - 1) * PAGE_SIZE)),
  });
  const search = (
    name: string,
    token: string,
    peer: string,
    reached: readonly { from: number; count: number }[],
  ): DocumentRequests => {
    const counts = reached.map(({ from, count }) =>
      countOf(
        count,
        (number) => titleOf(from + number),
        (title) => title.includes("année 1977"),
      ),
    );
    const count = counts.reduce((sum, one) => sum + one, 0);
    return {
      name,
      token,
      target: SEARCH_MS,
      peer,
      kinds: [{ method: "GET", path: "/api/v1.0/documents/search/?q=ANNEE%201977" }],
      check: isPage(count, Math.min(PAGE_SIZE, count)),
    };
  };
  const all = flat + deepFlat;
  const roots = trees + 2 + deepFlat;
  const last = Math.min(500, Math.ceil(wideRows / PAGE_SIZE));
  return [
    list(`list, ${owned.length} rows`, few, "88 ms", owned.length),
    list(`list, ${all} rows, most in trees`, deep, "292 ms", roots),
    list(`list, ${wideRows} flat rows`, wide, "292 ms", wideRows),
    list(`list, ${wideRows} flat rows, page ${last}`, wide, "no answer in 120 s", wideRows, last),
    search(`search, ${owned.length} rows`, few, "80 ms", reachedByOwner(data)),
    search(`search, ${all} rows, most in trees`, deep, "360 ms", [{ from: 0, count: all }]),
    search(`search, ${wideRows} flat rows`, wide, "360 ms", [{ from: flat, count: wideRows }]),
  ];
}
