import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { ScheduleResource } from "../resources.ts";
import type { Scheduler as SchedulerPort } from "../scheduler.ts";
import { createAlarm } from "./alarm.ts";
import { envelope, ruleMessage } from "./bus.ts";
import type { EmbeddedQueues } from "./queues.ts";
import type { Store } from "./store.ts";

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Milliseconds between two fires. Throws TypeError for expressions other than `rate(n minutes|hours|days)`. */
export function parseRate(expression: string): number {
  const [, count = "", unit = "", plural = ""] =
    /^rate\((\d+) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const unitMs = UNIT_MS[unit];
  const n = Number(count);
  // EventBridge requires the singular for 1 and the plural otherwise.
  if (unitMs === undefined || n < 1 || (n === 1) !== (plural === "")) {
    throw new TypeError(`the schedule expression "${expression}" is not a rate(n minutes|hours|days)`);
  }
  return n * unitMs;
}

export interface Scheduler {
  /** Fires the rules that are due now, and resolves when the messages are on disk. */
  poke(): Promise<void>;
  close(): void;
}

/**
 * The scheduler port without work: this process fires the template's rules at the start of every minute and sends its
 * timers itself.
 */
export const ownClock: SchedulerPort = {
  ensure: async () => undefined,
  reconcile: async () => undefined,
  sweepTimers: async () => 0,
};

/**
 * Fires the template's scheduled rules: each at once, then at every multiple of its rate since the epoch. A change of
 * the clock causes one fire; missed fires are not repeated, because the consumer finds what is due.
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
        throw new TypeError(`the schedule ${name} refers to the queue ${queue}, which does not exist`);
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
