import type { EventPattern } from "./bus.ts";
import type { IndexSpec } from "./tables.ts";

/** The template's resources that a platform needs. Names are logical ids of the template. */
export interface Resources {
  readonly tables: readonly TableResource[];
  readonly queues: readonly QueueResource[];
  readonly rules: readonly RuleResource[];
  readonly schedules: readonly ScheduleResource[];
}

export interface TableResource {
  readonly name: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
}

export interface QueueResource {
  readonly name: string;
  readonly fifo: boolean;
  /** FIFO: the limits of requests apply to each message group and not to the queue. */
  readonly highThroughput?: true;
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  /** The consumer only writes to tables and queues, so messages need not be on disk before it receives them. */
  readonly eager?: true;
  /**
   * Events of these detail types add no message if one is already waiting: the consumer itself finds the pending work.
   */
  readonly coalesces?: readonly string[];
  /** After this many deliveries without a delete, the message moves to the dead-letter queue. */
  readonly deadLetter?: { readonly queue: string; readonly maxReceiveCount: number };
}

export interface RuleResource {
  readonly name: string;
  readonly pattern: EventPattern;
  readonly queues: readonly string[];
}

export interface ScheduleResource {
  readonly name: string;
  /** `rate(1 minute)` or an EventBridge cron expression. */
  readonly expression: string;
  readonly queues: readonly string[];
}
