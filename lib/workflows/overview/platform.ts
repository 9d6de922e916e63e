import * as z from "zod";
import { toApiError } from "../../errors.ts";
import type { HighWaterMarks, LimitState } from "../../platform/high-water-marks.ts";
import type { Ports } from "../../platform/ports.ts";
import type { QueueDepth } from "../../platform/queues.ts";
import { deadLetterList, PRESENT } from "../dead-letters/table.ts";
import { checkReady } from "../health/ready.ts";
import type { ListDeps } from "../lists/list.ts";
import { readList } from "../lists/read-list.ts";
import { findRuns } from "../runs/run-list.ts";
// Generated from template.yaml by infra/readme.ts: functions in Lambda have no template.
import resources from "./resources.json" with { type: "json" };

const count = z.int().min(0);
const names = z.array(z.string());

/** The installation as an operator sees it. */
export const platformOverview = z
  .object({
    version: z.string(),
    platform: z.enum(["embedded", "aws"]),
    stack: z.string().nullable().describe("Name of the CloudFormation stack, on AWS"),
    health: z.object({
      status: z.enum(["ready", "unavailable"]),
      message: z.string().describe("What does not respond; empty if everything does"),
      collaboration: z
        .object({
          status: z.enum(["ok", "unavailable"]),
          advice: z.string(),
          rooms: count,
          connections: count,
        })
        .nullable()
        .describe("The collaboration server, if this process knows one"),
    }),
    runs: z.object({ running: count, pending: count, concurrency_max: count }),
    dead_letters: count.describe("Messages that failed too often"),
    functions: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(["endpoint", "consumer", "executor", "schedule"]),
        routes: names.describe("Method and path of each"),
        queues: names.describe("Queues whose messages it processes"),
        timeout_seconds: count,
        memory_mb: count,
        slowest_ms: z.number().nullable().describe("Longest invocation, if RECORD_HIGH_WATER_MARKS is set"),
      }),
    ),
    queues: z.array(
      z.object({
        name: z.string(),
        fifo: z.boolean(),
        visible: count.nullable().describe("Messages that wait; null if the queue does not respond"),
        in_flight: count.nullable(),
        delayed: count.nullable(),
        dead_letter_queue: z.string().nullable(),
        max_receive_count: count.nullable().describe("Deliveries after which a message is moved to it"),
      }),
    ),
    rules: z.array(z.object({ name: z.string(), pattern: z.record(z.string(), z.unknown()), queues: names })),
    schedules: z.array(z.object({ name: z.string(), expression: z.string(), queues: names })),
    tables: z.array(z.object({ name: z.string(), indexes: names })),
    limits: z.array(
      z.object({
        name: z.string(),
        source: z.string().describe("The service that sets the limit"),
        unit: z.string(),
        limit: count,
        largest: z.number().nullable().describe("Largest value so far, if RECORD_HIGH_WATER_MARKS is set"),
        beyond: z.enum(["rejected", "split", "elsewhere"]).describe("What happens to larger values"),
      }),
    ),
    settings: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        value: z.string().nullable().describe("Null for secrets, and for settings without a value"),
        default: z.string().nullable(),
        is_set: z.boolean(),
        is_secret: z.boolean(),
      }),
    ),
  })
  .meta({ id: "Platform" });
type Platform = z.infer<typeof platformOverview>;

export interface OverviewSource {
  readonly version: string;
  readonly platform: "embedded" | "aws";
  readonly stack: string | null;
  readonly maxConcurrentRuns: number;
  readonly settings: () => Platform["settings"];
  readonly limits: () => readonly LimitState[];
  readonly highWaterMarks: () => HighWaterMarks;
}

export type OverviewDeps = ListDeps &
  Pick<Ports, "tables" | "queues" | "secrets"> &
  Parameters<typeof checkReady>[0] & { readonly overview: OverviewSource };

const NO_ITEMS = { offset: 0, limit: 0 };

/** Reads the state of the installation. Parts that do not respond are shown as such. */
export async function readPlatform(deps: OverviewDeps): Promise<Platform> {
  const { version, platform, stack, maxConcurrentRuns, settings, limits, highWaterMarks } = deps.overview;
  const runs = async (status: string): Promise<number> => (await findRuns(deps, { status }, NO_ITEMS)).total;
  const { handlers } = highWaterMarks();
  const redact = (text: string | null): string | null => (text === null ? null : deps.secrets.redact(text));
  const [health, queues, running, pending, letters] = await Promise.all([
    readHealth(deps),
    Promise.all(resources.queues.map((queue) => queueState(deps, queue))),
    runs("running"),
    runs("pending"),
    readList(deps, deadLetterList, [PRESENT], NO_ITEMS),
  ]);
  return {
    version,
    platform,
    stack,
    health,
    runs: { running, pending, concurrency_max: maxConcurrentRuns },
    dead_letters: letters.total,
    functions: resources.functions.map((fn) => ({
      ...fn,
      kind: fn.kind as Platform["functions"][number]["kind"],
      slowest_ms: handlers[fn.name] ?? null,
    })),
    queues,
    rules: resources.rules,
    schedules: resources.schedules,
    tables: resources.tables,
    limits: limits().map(({ name, largest, limit: { value, unit, source, beyond } }) => ({
      name,
      source,
      unit,
      limit: value,
      largest,
      beyond: beyond ?? "rejected",
    })),
    settings: settings().map((one) => ({ ...one, value: redact(one.value) })),
  };
}

async function readHealth(deps: OverviewDeps): Promise<Platform["health"]> {
  try {
    const { collaboration } = await checkReady(deps);
    const live =
      collaboration === undefined ? null : { advice: "", rooms: 0, connections: 0, ...collaboration };
    return { status: "ready", message: "", collaboration: live };
  } catch (error) {
    return { status: "unavailable", message: toApiError(error).message, collaboration: null };
  }
}

const UNKNOWN = { visible: null, in_flight: null, delayed: null };

async function queueState(
  { queues }: Pick<Ports, "queues">,
  queue: (typeof resources.queues)[number],
): Promise<Platform["queues"][number]> {
  const depth = await queues.depth(queue.name).then(toDepth, () => UNKNOWN);
  return { ...queue, ...depth };
}

const toDepth = ({ visible, inFlight, delayed }: QueueDepth) => ({ visible, in_flight: inFlight, delayed });
