import type { Figure } from "./benchmark.ts";
import { type DocumentData, documentData } from "./document-data.ts";
import { filledFolder } from "./filled.ts";
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
/** The larger installation may take so many times the smaller one's time. */
const GROWTH_MAX = 1.5;

type Kind = Omit<RequestKind, "name" | "weight">;

/** Requests of one kind, one after another: where there are several, in turn. */
export interface Asked {
  /** The same at each size. */
  readonly name: string;
  readonly kinds: readonly [Kind, ...Kind[]];
  readonly token: string;
  /** Milliseconds. */
  readonly target: number;
  readonly peer: string;
  /** Whether they leave something to do when they are answered. */
  readonly isWrite?: true;
  /** Throws where an answer is not what it must be. */
  check?(json: unknown): void;
}

interface Taken {
  readonly p50: number;
  readonly p99: number;
  /** CPU of the server and all below it a request, milliseconds; and until nothing is left to do. */
  readonly cpu: number;
  readonly drained: number | undefined;
  /** What the first request took. */
  readonly first: number | undefined;
}

/** Whatever was measured of installations of different sizes. */
export class Sized {
  readonly figures: Figure[] = [];
  readonly details: Record<string, number> = {};
  readonly #before = new Map<string, number>();

  add({ name, target, peer }: Asked, size: number, { p50, p99, cpu, drained, first }: Taken): void {
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

  /** Throws where nothing was measured. */
  all(): readonly [Figure, ...Figure[]] {
    const [first, ...rest] = this.figures;
    if (first === undefined) throw new Error("nothing was asked");
    return [first, ...rest];
  }
}

/** Asks servers on data of each size (`WEFT_BENCH_SIZES` says how many of them), and ends them. */
export async function forEachSize(
  brief: boolean,
  ask: (server: Server, data: DocumentData, size: number) => Promise<void>,
): Promise<void> {
  const sizes = brief ? [BRIEF_SIZE] : SIZES.slice(0, Number(process.env.WEFT_BENCH_SIZES ?? SIZES.length));
  for (const size of sizes) {
    const server = await startServer({ dataDir: await filledFolder("documents", size) });
    await ask(server, documentData(size), size);
    await server.stop();
  }
}

export const secondsOf = (brief: boolean): number => (brief ? BRIEF_SECONDS : SECONDS);

/** A token of a user who is called so. */
export async function tokenOf(server: Server, name: string): Promise<string> {
  const body = { email: `${name}@example.com`, name: "benchmark" };
  const { json } = await server.call("POST", "//api/v1.0/access-tokens/", { body });
  return (json as { token: string }).token;
}

/** Asks over one connection for so long. Throws where an answer is not the expected one. */
export async function timeAsked(server: Server, asked: Asked, seconds: number): Promise<Taken> {
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

/** Throws where a page does not hold so many of so many. */
export const isPage =
  (count: number, length: number) =>
  (json: unknown): void => {
    const found = json as { count?: number; results?: unknown[] };
    if (found.count !== count || found.results?.length !== length)
      throw new Error(`${found.results?.length} of ${found.count} documents, not ${length} of ${count}`);
  };
