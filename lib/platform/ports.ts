import type { Blobs } from "./blobs.ts";
import type { Bus } from "./bus.ts";
import type { Claims } from "./claims.ts";
import type { Clock } from "./clock.ts";
import type { Commands } from "./commands.ts";
import type { FullText } from "./full-text.ts";
import type { Ids } from "./ids.ts";
import type { Log } from "./log.ts";
import type { Outbox } from "./outbox.ts";
import type { Queues } from "./queues.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Scripts } from "./scripts.ts";
import type { Secrets } from "./secrets.ts";
import type { Tables } from "./tables.ts";
import type { Timers } from "./timers.ts";

/** All ports of a platform. Services take the subset that they use. */
export interface Ports {
  readonly tables: Tables;
  readonly outbox: Outbox;
  readonly bus: Bus;
  readonly queues: Queues;
  readonly timers: Timers;
  readonly scheduler: Scheduler;
  readonly blobs: Blobs;
  readonly claims: Claims;
  readonly fullText: FullText;
  readonly commands: Commands;
  readonly scripts: Scripts;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}
