import { setTimeout as sleep } from "node:timers/promises";
import {
  epochMs,
  type KindReport,
  type LoadPlan,
  type LoadReport,
  type RecentLoad,
  type RequestKind,
} from "./load-plan.ts";
import { percentile } from "./numbers.ts";
import { RawConnection, rawRequest } from "./raw-http.ts";

const SAMPLES_MAX = 5;
const TICK_MS = 1;

interface Tally {
  readonly times: number[];
  errors: number;
  /** Number of `times` and `errors` in earlier reports. */
  reportedTimes: number;
  reportedErrors: number;
  readonly taken: string[];
  /** Values of `taken` that no other kind has used. */
  readonly free: string[];
}

const newTally = (): Tally => ({
  times: [],
  errors: 0,
  reportedTimes: 0,
  reportedErrors: 0,
  taken: [],
  free: [],
});

/** Sends the requests of a plan and reports the responses. Rejects if a connection breaks. */
class Load {
  readonly #plan: LoadPlan;
  readonly #tallies = new Map<string, Tally>();
  readonly #turn: readonly RequestKind[];
  readonly #samples: string[] = [];
  readonly #statuses: Record<number, number> = {};
  #sent = 0;
  #stopped = false;
  #reportedAt = performance.now();

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#turn = inTurn(plan.kinds);
    for (const { name } of plan.kinds) this.#tallies.set(name, newTally());
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Statistics since the previous call. */
  recent(): RecentLoad {
    const now = performance.now();
    const seconds = (now - this.#reportedAt) / 1000;
    this.#reportedAt = now;
    const p99: Record<string, number> = {};
    const all: number[] = [];
    let errors = 0;
    for (const [name, tally] of this.#tallies) {
      const times = tally.times.slice(tally.reportedTimes);
      for (const time of times) all.push(time);
      errors += tally.errors - tally.reportedErrors;
      if (times.length > 0) p99[name] = percentile(times, 0.99);
      tally.reportedTimes = tally.times.length;
      tally.reportedErrors = tally.errors;
    }
    return { seconds, answers: all.length, errors, p99: { "all requests": percentile(all, 0.99), ...p99 } };
  }

  async run(): Promise<LoadReport> {
    const { port, connections, seconds, rate } = this.#plan;
    const open = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(port)));
    if (seconds !== undefined) setTimeout(() => this.stop(), seconds * 1000).unref();
    const startedAt = epochMs();
    if (rate === undefined) await Promise.all(open.map((connection) => this.#closely(connection)));
    else await this.#paced(open, rate);
    const endedAt = epochMs();
    for (const connection of open) connection.close();
    return this.#report(startedAt, endedAt);
  }

  get #over(): boolean {
    return this.#stopped || this.#sent >= (this.#plan.count ?? Number.POSITIVE_INFINITY);
  }

  /** Sends requests one after another. */
  async #closely(connection: RawConnection): Promise<void> {
    while (!this.#over) await this.#exchange(connection, performance.now());
  }

  /** Sends requests at a rate. A request without a free connection waits; its time counts from when it was due. */
  async #paced(free: RawConnection[], rate: number): Promise<void> {
    const start = performance.now();
    const late: number[] = [];
    const under = new Set<Promise<void>>();
    const idle = [...free];
    let due = 0;
    let fault: unknown;
    const begin = (connection: RawConnection, at: number): void => {
      const exchange = this.#exchange(connection, at).then(
        () => {
          under.delete(exchange);
          const next = this.#over ? undefined : late.shift();
          if (next === undefined) idle.push(connection);
          else begin(connection, next);
        },
        (error: unknown) => {
          fault ??= error;
          under.delete(exchange);
        },
      );
      under.add(exchange);
    };
    while (!this.#over && fault === undefined) {
      for (; due < ((performance.now() - start) * rate) / 1000; due += 1)
        late.push(start + (due * 1000) / rate);
      for (let at = late[0]; at !== undefined && idle.length > 0 && !this.#over; at = late[0]) {
        // Uses all connections in turn, because the server closes idle ones.
        const connection = idle.shift();
        if (connection === undefined) break;
        late.shift();
        begin(connection, at);
      }
      await sleep(TICK_MS);
    }
    await Promise.all(under);
    if (fault !== undefined) throw fault;
  }

  async #exchange(connection: RawConnection, dueAt: number): Promise<void> {
    const number = this.#sent;
    this.#sent += 1;
    const { kind, id } = this.#kindOf(number);
    const fill = (text: string): string => text.replaceAll("{n}", `${number}`).replaceAll("{id}", id);
    const { token } = this.#plan;
    const request = rawRequest(kind.method, fill(kind.path), {
      ...(token === undefined ? {} : { token }),
      ...(kind.body === undefined ? {} : { body: fill(kind.body) }),
    });
    const { status, body } = await connection.send(request);
    const tally = this.#tally(kind.name);
    tally.times.push(performance.now() - dueAt);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (status !== (kind.expect ?? 200)) {
      tally.errors += 1;
      if (this.#samples.length < SAMPLES_MAX)
        this.#samples.push(`${kind.name}: ${status} ${body.toString()}`);
    } else if (kind.takes !== undefined) {
      this.#take(tally, kind.takes, body.toString(), kind.takesAll === true);
    }
  }

  #take(tally: Tally, field: string, body: string, all: boolean): void {
    const mark = `"${field}":"`;
    const isNeeded = this.#plan.kinds.some(({ needs }) => needs !== undefined);
    let at = body.indexOf(mark);
    do {
      const start = at + mark.length;
      const value = at < 0 ? "" : body.slice(start, body.indexOf('"', start));
      tally.taken.push(value);
      if (isNeeded) tally.free.push(value);
      at = at < 0 ? at : body.indexOf(mark, start);
    } while (all && at >= 0);
  }

  #kindOf(number: number): { kind: RequestKind; id: string } {
    const kind = this.#turn[number % this.#turn.length] as RequestKind;
    if (kind.needs === undefined) return { kind, id: "" };
    const id = this.#tally(kind.needs).free.shift();
    return id === undefined ? { kind: this.#turn[0] as RequestKind, id: "" } : { kind, id };
  }

  #tally(name: string): Tally {
    const tally = this.#tallies.get(name);
    if (tally === undefined) throw new Error(`no kind is called ${name}`);
    return tally;
  }

  #report(startedAt: number, endedAt: number): LoadReport {
    const tallies = [...this.#tallies];
    const times = tallies.flatMap(([, tally]) => tally.times);
    return {
      startedAt,
      endedAt,
      answers: times.length,
      errors: tallies.reduce((sum, [, { errors }]) => sum + errors, 0),
      p99: percentile(times, 0.99),
      kinds: Object.fromEntries(tallies.map(([name, tally]) => [name, kindReport(tally)])),
      statuses: this.#statuses,
      samples: this.#samples,
      taken: Object.fromEntries(tallies.map(([name, { taken }]) => [name, taken])),
    };
  }
}

function kindReport({ times, errors }: Tally): KindReport {
  return {
    answers: times.length,
    errors,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    max: percentile(times, 1),
  };
}

/** A sequence of kinds, evenly distributed by weight. */
function inTurn(kinds: readonly RequestKind[]): RequestKind[] {
  const places = kinds.flatMap((kind) => {
    const weight = kind.weight ?? 1;
    return Array.from({ length: weight }, (_, at) => ({ kind, place: at / weight }));
  });
  return places.sort((a, b) => a.place - b.place).map(({ kind }) => kind);
}

process.once("message", (plan: LoadPlan) => {
  const load = new Load(plan);
  process.on("message", (message: "stop" | "recent") => {
    if (message === "stop") load.stop();
    else process.send?.({ recent: load.recent() });
  });
  load.run().then(
    (report) => process.send?.({ report }, () => process.disconnect()),
    (error: unknown) => process.send?.({ fault: String(error) }, () => process.exit(1)),
  );
});
