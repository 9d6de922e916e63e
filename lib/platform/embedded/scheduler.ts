import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { ScheduleResource } from "../resources.ts";
import type { Scheduler as SchedulerPort } from "../scheduler.ts";
import { createAlarm } from "./alarm.ts";
import { envelope, ruleMessage } from "./bus.ts";
import type { EmbeddedQueues } from "./queues.ts";
import type { Store } from "./store.ts";

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Milliseconds between two fires. Throws TypeError for what is not `rate(n minutes|hours|days)`. */
export function parseRate(expression: string): number {
  const [, count = "", unit = "", plural = ""] =
    /^rate\((\d+) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const unitMs = UNIT_MS[unit];
  const n = Number(count);
  // EventBridge wants the singular for one and the plural for more.
  if (unitMs === undefined || n < 1 || (n === 1) !== (plural === "")) {
    throw new TypeError(`the schedule expression "${expression}" is not a rate(n minutes|hours|days)`);
  }
  return n * unitMs;
}

export interface Scheduler {
  /** Fires what is due by the clock now, and settles when the messages are on disk. */
  poke(): Promise<void>;
  close(): void;
}

/**
 * The scheduler port: the template's rules fire at the start of the minute by the clock of this process, and its
 * timers are sent by it, so there is nobody to be told.
 */
export const ownClock: SchedulerPort = {
  ensure: async () => undefined,
  reconcile: async () => undefined,
  sweepTimers: async () => 0,
};

/**
 * Fires the template's scheduled rules: each at once, then at every multiple of its rate since the epoch.
 * A clock that was set forwards or back makes one fire, and none is made up for: what was missed is for
 * the one who is woken to find.
 */
export function startScheduler(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly schedules: readonly ScheduleResource[];
  readonly queues: EmbeddedQueues;
}): Scheduler {
  const { store, clock, log, queues } = options;
  const rules = options.schedules.map(({ name, expression, queues: targets }) => {
    for (const queue of targets) {
      if (!queues.has(queue))
        throw new TypeError(`the schedule ${name} names a queue that is not there: ${queue}`);
    }
    return { name, targets, everyMs: parseRate(expression), fired: Number.NaN };
  });
  const slot = (everyMs: number): number => Math.floor(clock.now() / everyMs);

  const next = (): number | undefined => {
    if (rules.length === 0) return undefined;
    const now = clock.now();
    return Math.min(
      ...rules.map(({ everyMs, fired }) => (fired === slot(everyMs) ? (fired + 1) * everyMs : now)),
    );
  };
  const fire = async (rule: (typeof rules)[number]): Promise<void> => {
    const now = slot(rule.everyMs);
    if (rule.fired === now) return;
    const event = envelope(clock.now(), "aws.events", "Scheduled Event", [rule.name], {});
    const body = JSON.stringify(event);
    const sends = rule.targets.map((target) =>
      queues.prepare(target, [ruleMessage(body, rule.name, queues.isFifo(target))]),
    );
    await store.write((tx) => {
      for (const one of sends) queues.send(tx, one);
    });
    rule.fired = now;
  };
  const alarm = createAlarm({
    clock,
    log,
    next,
    ring: async () => {
      await Promise.all(rules.map(fire));
    },
  });
  alarm.arm();
  return { poke: () => alarm.poke(), close: () => alarm.close() };
}
