import type { StackService } from "./services.ts";

/** What kinds of functions a service has; each has one role. */
export type FunctionKind = "http" | "consumers" | "schedules" | "workers";

/** Of a DynamoDB table; `Query:name` is a query of that index alone, and `Query` one of the table itself. */
export type TableGrant =
  | "GetItem"
  | "BatchGetItem"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem"
  | "Query"
  | `Query:${string}`;

/** What the functions of one kind do with what the installation has, beside reading their own queues. */
export interface Access {
  /** By the table's name. */
  readonly tables?: Readonly<Record<string, readonly TableGrant[]>>;
  /** Consumers whose queues are sent to; `all` of the service. */
  readonly sends?: readonly string[] | "all";
  /** Looks at the depth of every queue of the service. */
  readonly watchesQueues?: true;
  readonly publishes?: true;
  readonly blobs?: readonly ("get" | "put")[];
  /** Reads the owner's token from the parameter store. */
  readonly readsToken?: true;
}

/** What recording an event takes: its record, its place in the tail, the triggers that it matches. */
const RECORDS_EVENTS = {
  "event-log": ["PutItem"],
  "event-tail": ["PutItem"],
  catalog: ["GetItem"],
  workflows: ["Query:list"],
} as const satisfies Access["tables"];

/** What keeping the reason of a message's last failure takes. */
const NOTES_FAILURES = { "dead-letters": ["UpdateItem"] } as const satisfies Access["tables"];

/**
 * What each role may do. Users' code runs with that of the workers: it reads the run that it is part of,
 * leases its step, reports to the conductor and emits events.
 */
export const ACCESS: Readonly<Record<StackService, Readonly<Record<FunctionKind, Access>>>> = {
  workflows: {
    http: {
      tables: {
        assets: ["Query:list", "UpdateItem"],
        catalog: ["GetItem", "UpdateItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "Query:list", "DeleteItem"],
        "event-log": ["BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "ranked-index": ["GetItem", "BatchGetItem"],
        "run-history": ["Query", "PutItem"],
        "run-values": ["PutItem"],
        runs: ["GetItem", "Query:list", "PutItem"],
        schedules: ["Query", "PutItem", "DeleteItem"],
        service: ["GetItem", "UpdateItem"],
        steps: ["Query", "UpdateItem"],
        "workflow-revisions": ["GetItem", "PutItem"],
        workflows: ["GetItem", "Query:list", "PutItem"],
      },
      // A dead letter goes back to the queue that it came from.
      sends: "all",
      watchesQueues: true,
      publishes: true,
      blobs: ["get", "put"],
      readsToken: true,
    },
    consumers: {
      tables: {
        catalog: ["GetItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "UpdateItem"],
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "PutItem"],
        "run-history": ["PutItem"],
        "run-values": ["PutItem"],
        runs: ["GetItem", "PutItem"],
        steps: ["GetItem", "UpdateItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
      },
      sends: ["conduct"],
      publishes: true,
      blobs: ["get", "put"],
    },
    schedules: {
      tables: {
        ...NOTES_FAILURES,
        catalog: ["GetItem"],
        "event-log": ["GetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        runs: ["Query:active", "UpdateItem"],
        schedules: ["Query:due", "UpdateItem"],
        steps: ["GetItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
      },
      sends: ["conduct"],
      publishes: true,
      blobs: ["get", "put"],
    },
    workers: {
      tables: {
        ...RECORDS_EVENTS,
        ...NOTES_FAILURES,
        assets: ["UpdateItem"],
        counters: ["UpdateItem"],
        "run-values": ["BatchGetItem"],
        runs: ["GetItem"],
        steps: ["GetItem", "PutItem", "UpdateItem"],
        "workflow-revisions": ["GetItem"],
      },
      sends: ["conduct"],
      publishes: true,
      blobs: ["get", "put"],
    },
  },
  documents: { http: {}, consumers: {}, schedules: {}, workers: {} },
};
