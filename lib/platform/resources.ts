import type { EventPattern } from "./bus.ts";
import type { IndexSpec } from "./tables.ts";

/** What the template declares, as a platform needs it. Names are logical names of the template. */
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
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  /** Its consumer does nothing but write to tables and queues: messages need not be on disk before it has them. */
  readonly eager?: true;
  /** Events of these detail types leave no further message where one waits: its consumer looks for what is to be done. */
  readonly coalesces?: readonly string[];
  /** After so many deliveries without a delete the message goes to the dead-letter queue. */
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
