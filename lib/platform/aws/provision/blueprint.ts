import type { EventPattern } from "../../bus.ts";
import type { IndexSpec } from "../../tables.ts";

/** The resources to create, with their names in the account. */
export interface Blueprint {
  readonly tables: readonly TableBlueprint[];
  readonly queues: readonly QueueBlueprint[];
  /** Names of buses in addition to the account's default bus. */
  readonly buses: readonly string[];
  readonly rules: readonly RuleBlueprint[];
  readonly buckets: readonly string[];
}

export interface TableBlueprint {
  readonly name: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
}

export interface QueueBlueprint {
  /** Ends in `.fifo` for FIFO queues. */
  readonly name: string;
  readonly fifo: boolean;
  /** Messages without a deduplication id get a hash of their body. */
  readonly contentDeduplication: boolean;
  readonly visibilitySeconds?: number;
  readonly retentionSeconds?: number;
  readonly deadLetter?: { readonly queue: string; readonly maxReceiveCount: number };
}

export interface RuleBlueprint {
  readonly name: string;
  /** Default: the default bus. Scheduled rules exist only there. */
  readonly bus?: string;
  readonly when: { readonly pattern: EventPattern } | { readonly schedule: string };
  readonly targets: readonly TargetBlueprint[];
}

export interface TargetBlueprint {
  readonly id: string;
  readonly queue: string;
  /** Message group id, for FIFO queues. */
  readonly groupId?: string;
  /** Receives undeliverable messages. */
  readonly deadLetterQueue?: string;
}
