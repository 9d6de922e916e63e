import { PRICES } from "./assumptions.ts";
import { ModelCloud } from "./cloud.ts";
import type { Usage } from "./units.ts";

/** A kind of load. */
export interface Scenario {
  readonly name: string;
  readonly unit: string;
  /** What must be sustained, per second. */
  readonly target: number;
  /** Functions that are not polled. */
  readonly without?: readonly string[];
  /** Prepares the cloud; returns what one unit of load does. Rejects if the unit was refused. */
  prepare(cloud: ModelCloud): Promise<(index: number) => Promise<void>>;
  /** What waits for one unit while it is in progress, at most: the growth of what waits is compared with it. */
  readonly waitsPerUnit: number;
  /** Further work that is waiting, besides messages. */
  waiting?(cloud: ModelCloud): number;
}

/** What happened at a rate. */
export interface Trial {
  readonly rate: number;
  readonly isSustained: boolean;
  /** Units whose request was accepted within the measured time, per second. */
  readonly accepted: number;
  readonly refused: number;
  /** Growth of what waits, per second. */
  readonly growth: number;
  /** The limits of partitions, queues and functions, most used first. */
  readonly usages: readonly Usage[];
  readonly growing: readonly string[];
  readonly perUnit: Costs;
  readonly conflicts: number;
  readonly failedConditions: number;
  readonly errors: ReadonlyMap<string, number>;
}

/** What one unit of load consumes. */
export interface Costs {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly fifoRequests: number;
  readonly busEntries: number;
  readonly objectWrites: number;
  readonly objectReads: number;
  readonly invocations: number;
  readonly gigabyteSeconds: number;
}

/** Memory of a function, for prices. */
const MEMORY_GB = 0.5;
const WARM_UP_MS = 4_000;
const MEASURED_MS = 8_000;
/** Time over which what waits is averaged: batches and merges make it go up and down. */
const AVERAGED_MS = 2_000;
const SAMPLE_MS = 50;
/** Growth of what waits that a sustained rate may show: chance. */
const GROWTH_MAX = 0.04;
const REFUSED_MAX = 0.002;

/** Runs a scenario at a rate per second. */
export async function tryRate(scenario: Scenario, rate: number): Promise<Trial> {
  const cloud = new ModelCloud();
  const { time, units, dynamodb, bus, s3 } = cloud;
  try {
    await time.runWhile(cloud.startPollers(scenario.without));
    const load = await time.runWhile(scenario.prepare(cloud));
    await time.runUntil(time.now + 2_000);
    let accepted = 0;
    let refused = 0;
    let sent = 0;
    const startedAt = time.now;
    const send = (): void => {
      const due = Math.ceil(((time.now - startedAt) / 1000) * rate);
      for (; sent < due; sent += 1) {
        void load(sent).then(
          () => {
            accepted += 1;
          },
          (error: unknown) => {
            refused += 1;
            const text = error instanceof Error ? error.message.slice(0, 160) : String(error);
            cloud.errors.set(text, (cloud.errors.get(text) ?? 0) + 1);
          },
        );
      }
      time.after(1000 / Math.min(rate, 500), send);
    };
    time.after(1, send);
    const waiting = (): number =>
      cloud.backlog + (scenario.waiting?.(cloud) ?? 0) + (sent - accepted - refused);
    await time.runUntil(startedAt + WARM_UP_MS);
    const waitingBefore = await averageOf(cloud, waiting);
    const before = countersOf(cloud);
    const depths = new Map(cloud.queues.map((queue) => [queue, queue.depth]));
    units.reset();
    const { conflicts, failedConditions } = dynamodb.totals;
    const from = { accepted, refused, conflicts, failedConditions };
    await time.runUntil(time.now + MEASURED_MS);
    const seconds = MEASURED_MS / 1000;
    const done = accepted - from.accepted;
    const usages = units.usages();
    const growing = cloud.queues
      .filter((queue) => queue.depth - (depths.get(queue) ?? 0) > rate * seconds * GROWTH_MAX)
      .map(({ resource, depth }) => `${resource.name} (${depth} waiting)`);
    const spent = countersOf(cloud);
    const until = await averageOf(cloud, waiting);
    const growth = (until - waitingBefore) / (seconds + AVERAGED_MS / 1000);
    const refusedNow = refused - from.refused;
    return {
      rate,
      isSustained:
        growth <= Math.max(1, rate * GROWTH_MAX * scenario.waitsPerUnit) &&
        refusedNow <= REFUSED_MAX * done &&
        done >= rate * seconds * 0.95,
      accepted: done / seconds,
      refused: refusedNow,
      growth,
      usages: usages.map((usage) => ({ ...usage, used: usage.used / seconds })),
      growing,
      perUnit: perUnit(before, spent, Math.max(1, done)),
      conflicts: dynamodb.totals.conflicts - from.conflicts,
      failedConditions: dynamodb.totals.failedConditions - from.failedConditions,
      errors: cloud.errors,
    };
  } finally {
    cloud.close();
  }
  function countersOf(of: ModelCloud): Costs {
    const queues = of.queues.map(({ resource, requests }) => ({ fifo: resource.fifo, requests }));
    const functions = [...of.functions.values()];
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
    return {
      writeUnits: dynamodb.totals.writeUnits,
      readUnits: dynamodb.totals.readUnits,
      queueRequests: sum(queues.filter(({ fifo }) => !fifo).map(({ requests }) => requests)),
      fifoRequests: sum(queues.filter(({ fifo }) => fifo).map(({ requests }) => requests)),
      busEntries: bus.entries,
      objectWrites: s3.totals.writes,
      objectReads: s3.totals.reads,
      invocations: sum(functions.map(({ invocations }) => invocations)),
      gigabyteSeconds: (sum(functions.map(({ busyMs }) => busyMs)) / 1000) * MEMORY_GB,
    };
  }
}

async function averageOf({ time }: ModelCloud, value: () => number): Promise<number> {
  let sum = 0;
  for (let waited = 0; waited < AVERAGED_MS; waited += SAMPLE_MS) {
    await time.runUntil(time.now + SAMPLE_MS);
    sum += value();
  }
  return (sum * SAMPLE_MS) / AVERAGED_MS;
}

function perUnit(before: Costs, after: Costs, units: number): Costs {
  const entries = Object.entries(after).map(([name, value]) => [
    name,
    (value - before[name as keyof Costs]) / units,
  ]);
  return Object.fromEntries(entries) as unknown as Costs;
}

/** US dollars for a million units, without HTTP requests. */
export function dollarsPerMillion(costs: Costs): number {
  return (
    costs.writeUnits * PRICES.writeUnits +
    costs.readUnits * PRICES.readUnits +
    costs.queueRequests * PRICES.standardRequests +
    costs.fifoRequests * PRICES.fifoRequests +
    costs.busEntries * PRICES.busEntries +
    costs.objectWrites * PRICES.objectWrites +
    costs.objectReads * PRICES.objectReads +
    costs.invocations * PRICES.invocations +
    costs.gigabyteSeconds * PRICES.memory
  );
}

/** Finds the highest sustained rate, within a tenth. */
export async function findCeiling(
  scenario: Scenario,
  from: number,
  report: (trial: Trial) => void,
): Promise<{ readonly best: Trial | undefined; readonly worst: Trial | undefined }> {
  let best: Trial | undefined;
  let worst: Trial | undefined;
  let rate = from;
  for (let tries = 0; tries < 12; tries += 1) {
    const trial = await tryRate(scenario, Math.round(rate));
    report(trial);
    if (trial.isSustained) best = trial;
    else worst = trial;
    if (best !== undefined && worst !== undefined && worst.rate <= best.rate * 1.15) break;
    if (best === undefined) rate /= 2;
    else rate = worst === undefined ? rate * 1.5 : Math.sqrt(best.rate * worst.rate);
    if (rate < 1) break;
  }
  return { best, worst };
}
