import type { EventPattern } from "../../bus.ts";
import type { IndexSpec } from "../../tables.ts";

/** What is to be there, under the names that it has in the account. */
export interface Blueprint {
  readonly tables: readonly TableBlueprint[];
  readonly queues: readonly QueueBlueprint[];
  /** Names of buses beside the account's default one. */
  readonly buses: readonly string[];
  readonly rules: readonly RuleBlueprint[];
  readonly buckets: readonly string[];
}

export interface TableBlueprint {
  readonly name: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
}

export interface QueueBlueprint {
  /** Ends in `.fifo` where it is one. */
  readonly name: string;
  readonly fifo: boolean;
  /** Messages without a deduplication id get one from their body. */
  readonly contentDeduplication: boolean;
  readonly visibilitySeconds?: number;
  readonly retentionSeconds?: number;
  readonly deadLetter?: { readonly queue: string; readonly maxReceiveCount: number };
}

export interface RuleBlueprint {
  readonly name: string;
  /** The default bus without one; scheduled rules exist there alone. */
  readonly bus?: string;
  readonly when: { readonly pattern: EventPattern } | { readonly schedule: string };
  readonly targets: readonly TargetBlueprint[];
}

export interface TargetBlueprint {
  readonly id: string;
  readonly queue: string;
  /** Of the messages to a FIFO queue. */
  readonly groupId?: string;
  /** Takes what cannot be delivered. */
  readonly deadLetterQueue?: string;
}
