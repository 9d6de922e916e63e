import type { Figure } from "./benchmark.ts";
import { type DocumentData, documentData } from "./document-data.ts";
import { openFilledFolder } from "./filled.ts";
import { sendLoad } from "./load.ts";
import type { LoadReport, RequestKind } from "./load-plan.ts";
import { cpuMs, untilQuiet } from "./processes.ts";
import { type Server, startServer } from "./server.ts";

const SIZES = [10_000, 110_000];
const BRIEF_SIZE = 600;
const WARM_UP_SECONDS = 0.3;
const SECONDS = 2;
const BRIEF_SECONDS = 0.05;
const QUIET_MAX_MS = 60_000;
/** Limit for the time of the larger installation as a multiple of the smaller one's. */
const GROWTH_MAX = 1.5;

type Kind = Omit<RequestKind, "name" | "weight">;

/** Sequential requests; several kinds alternate. */
export interface DocumentRequests {
  /** Name of the figure, the same at each size. */
  readonly name: string;
  readonly kinds: readonly [Kind, ...Kind[]];
  readonly token: string;
  /** Target of the p50, milliseconds. */
  readonly target: number;
  readonly peer: string;
  /** Set if the server continues working after the response. */
  readonly isWrite?: true;
  /** Throws if a response is wrong. */
  check?(json: unknown): void;
}

interface Taken {
  readonly p50: number;
  readonly p99: number;
  /** CPU time of the server and its descendants per request, milliseconds; `drained` includes later work. */
  readonly cpu: number;
  readonly drained: number | undefined;
  /** Time of the first request, milliseconds. */
  readonly first: number | undefined;
}

/** Collects the figures of installations of different sizes. */
export class FiguresBySize {
  readonly figures: Figure[] = [];
  readonly details: Record<string, number> = {};
  readonly #before = new Map<string, number>();

  add(
    { name, target, peer }: DocumentRequests,
    size: number,
    { p50, p99, cpu, drained, first }: Taken,
  ): void {
    const what = `${name}, of ${size} documents`;
    this.figures.push({ what, value: p50, unit: "ms", target, peer });
    this.figures.push({ what: `${what}: CPU`, value: cpu, unit: "ms" });
    if (drained !== undefined)
      this.figures.push({ what: `${what}: CPU until nothing is left to do`, value: drained, unit: "ms" });
    const before = this.#before.get(name);
    if (before !== undefined)
      this.figures.push({
        what: `${what}: that as many times`,
        value: p50 / before,
        unit: "x",
        target: GROWTH_MAX,
      });
    this.#before.set(name, p50);
    this.details[`${what}: p99 ms`] = p99;
    if (first !== undefined) this.details[`${what}: first ms`] = first;
  }

  /** Returns all figures. Throws if there are none. */
  all(): readonly [Figure, ...Figure[]] {
    const [first, ...rest] = this.figures;
    if (first === undefined) throw new Error("no request was measured");
    return [first, ...rest];
  }
}

/** Calls `ask` with a server on data of each size (the first `WEFT_BENCH_SIZES` sizes), and stops the server. */
export async function forEachSize(
  brief: boolean,
  ask: (server: Server, data: DocumentData, size: number) => Promise<void>,
): Promise<void> {
  const sizes = brief ? [BRIEF_SIZE] : SIZES.slice(0, Number(process.env.WEFT_BENCH_SIZES ?? SIZES.length));
  for (const size of sizes) {
    const server = await startServer({ dataDir: await openFilledFolder("documents", size) });
    await ask(server, documentData(size), size);
    await server.stop();
  }
}

export const secondsOf = (brief: boolean): number => (brief ? BRIEF_SECONDS : SECONDS);

/** Creates an access token for the user with this name. */
export async function createToken(server: Server, name: string): Promise<string> {
  const body = { email: `${name}@example.com`, name: "benchmark" };
  const { json } = await server.call("POST", "//api/v1.0/access-tokens/", { body });
  return (json as { token: string }).token;
}

/** Times requests over one connection. Throws if a response is wrong. */
export async function measureRequests(
  server: Server,
  asked: DocumentRequests,
  seconds: number,
): Promise<Taken> {
  const { token, check, isWrite } = asked;
  const kinds = asked.kinds.map((kind) => ({ ...kind, name: "asked" }));
  let first: number | undefined;
  if (check !== undefined) {
    const begun = performance.now();
    const { json } = await server.call("GET", `/${asked.kinds[0].path}`, { token });
    first = performance.now() - begun;
    check(json);
  }
  const load = { port: server.port, token, connections: 1, kinds };
  await sendLoad({ ...load, seconds: Math.min(seconds, WARM_UP_SECONDS) });
  if (isWrite) await untilQuiet(server.pid, QUIET_MAX_MS);
  const before = cpuMs(server.pid);
  const report: LoadReport = await sendLoad({ ...load, seconds });
  const cpu = (cpuMs(server.pid) - before) / report.answers;
  if (isWrite) await untilQuiet(server.pid, QUIET_MAX_MS);
  const drained = isWrite ? (cpuMs(server.pid) - before) / report.answers : undefined;
  const { p50 = Number.NaN, p99 = Number.NaN } = report.kinds.asked ?? {};
  return { p50, p99, cpu, drained, first };
}

/** Returns a check that throws unless a page has `length` results of `count`. */
export const isPage =
  (count: number, length: number) =>
  (json: unknown): void => {
    const found = json as { count?: number; results?: unknown[] };
    if (found.count !== count || found.results?.length !== length)
      throw new Error(`${found.results?.length} of ${found.count} documents, not ${length} of ${count}`);
  };
