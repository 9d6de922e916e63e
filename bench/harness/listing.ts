import type { Figure } from "./benchmark.ts";
import { expectNoErrors, sendLoad, startLoad } from "./load.ts";
import type { KindReport } from "./load-plan.ts";
import type { Server } from "./server.ts";

/** A query with its expected result. */
export interface Query {
  readonly name: string;
  /** Path below `/automation`. */
  readonly path: string;
  readonly total: number;
  /** Number of records on the page. */
  readonly length: number;
}

const WARM_UP_MS = 200;

/**
 * Times each query over one connection. Throws if a total or a page length is wrong, unless they need not be exact
 * because records are arriving.
 */
export async function timeQueries(
  server: Server,
  queries: readonly Query[],
  seconds: number,
  exact = true,
): Promise<Record<string, KindReport>> {
  const reports: Record<string, KindReport> = {};
  for (const query of queries) {
    if (exact) await checkTotal(server, query);
    await askFor(server, query, WARM_UP_MS / 1000);
    reports[query.name] = await askFor(server, query, seconds);
  }
  return reports;
}

/** Figures of timed queries: the p50 of the slowest, then of each; and the p99. */
export function listFigures(
  timed: Readonly<Record<string, KindReport>>,
  target: number,
): { readonly figures: readonly [Figure, ...Figure[]]; readonly p99_ms: Readonly<Record<string, number>> } {
  const times = Object.entries(timed);
  const figure = (what: string, value: number): Figure => ({ what, value, unit: "ms", target });
  const each = times.map(([what, { p50 }]) => figure(what, p50));
  const worst = Math.max(...each.map(({ value }) => value));
  return {
    figures: [figure("the slowest of them", worst), ...each],
    p99_ms: Object.fromEntries(times.map(([name, { p99 }]) => [name, p99])),
  };
}

async function askFor(server: Server, { path }: Query, seconds: number): Promise<KindReport> {
  const { port, token } = server;
  const kinds = [{ name: "list", method: "GET", path: `/automation${path}` }];
  const { kinds: reports } = await sendLoad({ port, token, connections: 1, seconds, kinds });
  if (reports.list === undefined) throw new Error("no request was measured");
  return reports.list;
}

/** Throws if the total or the page length is wrong. */
export async function checkTotal(server: Server, { path, total, length }: Query): Promise<void> {
  const answer = await server.get<{ data: unknown[]; pagination: { total: number } }>(path);
  const found = answer.pagination.total;
  if (found !== total || answer.data.length !== length)
    throw new Error(`${path}: ${answer.data.length} of ${found} records, not ${length} of ${total}`);
}

const ARRIVING = {
  name: "emit",
  method: "POST",
  path: "/automation/events/emit",
  body: JSON.stringify({ topic: "custom.arriving", workspace: "arriving", data: { host: "a.example" } }),
};
const ARRIVING_CONNECTIONS = 4;

/** Runs `work` while `rate` events per second arrive. Returns the number of emitted events. */
export async function measureDuringEvents(
  server: Server,
  rate: number,
  work: () => Promise<void>,
): Promise<number> {
  const { port, token } = server;
  const load = startLoad({ port, token, connections: ARRIVING_CONNECTIONS, rate, kinds: [ARRIVING] });
  await Promise.race([work(), load.report.then(() => Promise.reject(new Error("the events stopped")))]);
  return expectNoErrors(await load.stop()).answers;
}
