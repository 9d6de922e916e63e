import { type Clock, systemClock } from "../clock.ts";
import type { Commands } from "../commands.ts";
import { systemIds } from "../ids.ts";
import { checkResources } from "../limits-resources.ts";
import type { Log } from "../log.ts";
import type { Ports } from "../ports.ts";
import type { Resources, TableResource } from "../resources.ts";
import type { Scripts } from "../scripts.ts";
import { NO_SECRETS, type Secrets } from "../secrets.ts";
import { timersTable } from "../timers-table.ts";
import { awsBlobs } from "./blobs.ts";
import { awsBus } from "./bus.ts";
import { awsClaims } from "./claims.ts";
import { type Environment, endpointOf } from "./client-options.ts";
import { tableFullText } from "./full-text.ts";
import { awsOutbox } from "./outbox.ts";
import { awsQueues } from "./queues.ts";
import { type Pause, systemPause } from "./retries.ts";
import { awsScheduler } from "./scheduler.ts";
import { type AwsServices, awsServices } from "./services.ts";
import { withStackName } from "./table-layout.ts";
import { awsTables } from "./tables.ts";
import { awsTimers } from "./timers.ts";

export interface AwsOptions {
  /** Name of the stack: the name of the bus and the prefix of every table and queue. */
  readonly stack: string;
  /** Default: the region of the environment. */
  readonly region?: string;
  readonly resources: Resources;
  readonly log: Log;
  readonly clock?: Clock;
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Default: no secrets. */
  readonly secrets?: Secrets;
  /** The bucket of blobs; default `WEFT_BLOBS_BUCKET`, else the name that provisioning uses. */
  readonly bucket?: string;
  /** Default: the environment of this process (endpoints, region, bucket). */
  readonly environment?: Environment;
  /** Opened here by default; the caller closes services that it passes. */
  readonly services?: AwsServices;
  /** Waits between two attempts. For tests. */
  readonly pause?: Pause;
}

export interface AwsPlatform {
  readonly ports: Ports;
  /**
   * Sends the timers that are due by `now` (milliseconds since the epoch) or soon after. Returns their number. Must be
   * called every minute.
   */
  sweepTimers(now: number): Promise<number>;
  close(): Promise<void>;
}

/** Seconds. During one wait, emulators do not check again for a FIFO group that was released meanwhile. */
const EMULATED_WAIT_SECONDS = 1;

/** Name of the stack's blob bucket if CloudFormation did not choose one. */
export function blobsBucketOf(stack: string): string {
  return withStackName(stack, "blobs").toLowerCase();
}

/** Adds the table of timers, which belongs to the adapter, if the template's resources do not list it. */
function withTimers(tables: readonly TableResource[]): readonly TableResource[] {
  const { name, indexes } = timersTable;
  return tables.some((table) => table.name === name) ? tables : [...tables, { name, indexes }];
}

/**
 * The platform over AWS's services, or over an emulator at `AWS_ENDPOINT_URL`. Sends no requests; the template's
 * resources must exist when they are used.
 */
export async function openAws(options: AwsOptions): Promise<AwsPlatform> {
  const { stack, resources, log, clock = systemClock, commands, scripts, pause = systemPause } = options;
  checkResources(resources);
  const environment = options.environment ?? process.env;
  const services = options.services ?? awsServices({ environment, region: options.region });
  const bucket = options.bucket ?? (environment.WEFT_BLOBS_BUCKET || blobsBucketOf(stack));
  const tables = awsTables({
    dynamodb: services.dynamodb,
    stack,
    resources: withTimers(resources.tables),
    pause,
  });
  const queues = awsQueues({
    sqs: services.sqs,
    stack,
    resources: resources.queues,
    pause,
    ...(endpointOf(environment, "SQS") === undefined ? {} : { longestWaitSeconds: EMULATED_WAIT_SECONDS }),
  });
  const bus = awsBus({ eventbridge: services.eventbridge, stack, pause });
  const timers = awsTimers({ tables: tables.port, queues, clock });
  return {
    ports: {
      tables: tables.port,
      outbox: awsOutbox(tables, bus, queues),
      bus: bus.port,
      queues: queues.port,
      timers: timers.port,
      scheduler: awsScheduler({ eventbridge: services.eventbridge, stack, sweepTimers: timers.sweep }),
      blobs: awsBlobs({ s3: services.s3, bucket, pause }),
      claims: awsClaims({ s3: services.s3, bucket }),
      fullText: tableFullText(tables.port),
      commands,
      scripts,
      secrets: options.secrets ?? NO_SECRETS,
      clock,
      ids: systemIds(clock),
      log,
    },
    sweepTimers: timers.sweep,
    close: async () => {
      if (options.services === undefined) services.close();
    },
  };
}
