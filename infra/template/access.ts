import type { StackService } from "./services.ts";

/** What kinds of functions a service has; each has one role. */
export type FunctionKind = "http" | "consumers" | "schedules" | "executors" | "workers" | "converter";

/** Of a DynamoDB table; `Query:name` is a query of that index alone, and `Query` one of the table itself. */
export type TableGrant =
  | "GetItem"
  | "BatchGetItem"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem"
  | "ConditionCheckItem"
  | "Query"
  | `Query:${string}`;

/** What keys of blobs begin with: a folder's name, without a slash at its end. */
export interface BlobAccess {
  readonly get: readonly string[];
  readonly put: readonly string[];
  readonly remove?: readonly string[];
  /** Asks for blobs that may not be there: S3 tells so to those alone who may list the bucket. */
  readonly missing?: true;
}

/** What the functions of one kind do with what the installation has, beside reading their own queues. */
export interface Access {
  /** By the table's name. */
  readonly tables?: Readonly<Record<string, readonly TableGrant[]>>;
  /** Consumers whose queues are sent to; `all` of the service. */
  readonly sends?: readonly string[] | "all";
  /** Looks at the depth of every queue of the service. */
  readonly watchesQueues?: true;
  readonly publishes?: true;
  readonly blobs?: BlobAccess;
  /** Has content converted by the function for it. */
  readonly converts?: true;
  /** Makes rules for the expressions of schedules, or also takes away those that no schedule has. */
  readonly scheduleRules?: "ensure" | "reconcile";
  /** Reads the owner's token from the parameter store. */
  readonly readsToken?: true;
  /** Reads the secrets whose names begin with `LLM_`: keys of language models. */
  readonly readsModelKeys?: true;
  /** Reads the password of the mail server, a secret of that setting's name. */
  readonly readsMailPassword?: true;
  /** Reads secrets of the documents, and their theme. */
  readonly readsDocumentSecrets?: true;
  /** Reads the secrets of workflows from the parameter store. */
  readonly readsSecrets?: true;
}

/**
 * What each role may do. Users' code runs with that of the executors: what they need to know comes with the
 * message, and what they find out goes to the conductor. They have no tables.
 */
export const ACCESS: Readonly<Record<StackService, Readonly<Record<FunctionKind, Access>>>> = {
  workflows: {
    http: {
      tables: {
        // Whose token it is.
        "access-tokens": ["GetItem"],
        users: ["GetItem"],
        artifacts: ["BatchGetItem", "PutItem"],
        "asset-facets": ["Query", "PutItem"],
        assets: ["BatchGetItem", "PutItem", "UpdateItem"],
        catalog: ["GetItem", "UpdateItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "BatchGetItem", "DeleteItem"],
        // Of more than are kept, the oldest goes.
        diffs: ["Query", "PutItem", "DeleteItem"],
        "event-log": ["BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "DeleteItem"],
        // A letter that was redriven leaves its list at once.
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "PutItem"],
        "run-history": ["Query", "PutItem"],
        "run-names": ["GetItem", "Query", "PutItem"],
        "run-queue": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        // A run that is resumed or made again takes over the values of another.
        "run-values": ["GetItem", "BatchGetItem", "Query", "PutItem"],
        runs: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        schedules: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        service: ["GetItem", "UpdateItem"],
        steps: ["Query", "PutItem", "BatchGetItem"],
        // What triggers keep: how they were switched, schedules made by request, webhooks, keys that count once, and
        // how many runs a root cause has started.
        "trigger-state": ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "workflow-revisions": ["GetItem", "PutItem"],
        workflows: ["GetItem", "Query:list", "PutItem"],
        "workspace-layers": ["GetItem", "PutItem"],
        vulnerabilities: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "vulnerability-identities": ["GetItem", "BatchGetItem", "PutItem", "DeleteItem"],
        workspaces: ["GetItem", "BatchGetItem", "UpdateItem"],
      },
      // A dead letter goes back to the queue that it came from.
      sends: "all",
      watchesQueues: true,
      publishes: true,
      blobs: {
        get: ["claims", "dead-letters", "diffs", "events", "runs", "workflows", "snapshots", "workspaces"],
        put: ["claims", "diffs", "events", "runs", "workflows", "snapshots", "workspaces"],
        remove: ["diffs", "snapshots"],
        missing: true,
      },
      scheduleRules: "ensure",
      readsToken: true,
      readsModelKeys: true,
    },
    consumers: {
      tables: {
        // Of events that steps generate, and of what they import.
        artifacts: ["BatchGetItem", "PutItem"],
        "asset-facets": ["PutItem"],
        assets: ["BatchGetItem", "PutItem", "UpdateItem"],
        catalog: ["GetItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "BatchGetItem", "UpdateItem"],
        // Edits of documents are told of, and what saves of content left behind is removed.
        documents: ["GetItem", "UpdateItem", "BatchGetItem", "PutItem", "ConditionCheckItem"],
        "document-versions": ["BatchGetItem", "Query", "PutItem"],
        // What scripts ask of documents, as a user of theirs.
        // What a move left is settled or removed.
        "document-accesses": ["BatchGetItem", "Query", "PutItem", "DeleteItem"],
        "document-invitations": ["Query", "DeleteItem"],
        "document-invited": ["DeleteItem"],
        "document-change-counts": ["UpdateItem"],
        "document-changes": ["PutItem"],
        "document-children": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-comments": ["Query", "PutItem"],
        "document-relations": ["BatchGetItem", "UpdateItem"],
        "document-threads": ["GetItem", "PutItem", "UpdateItem"],
        // The owner may come to be a user by a script.
        "user-directory": ["PutItem", "UpdateItem"],
        "user-identities": ["Query", "PutItem"],
        users: ["GetItem", "BatchGetItem", "PutItem"],
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "PutItem"],
        "run-history": ["PutItem"],
        "run-names": ["PutItem"],
        "run-queue": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "run-values": ["BatchGetItem", "PutItem"],
        runs: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        // How often a trigger has fired, and how many runs led to one: signed with a key of the installation.
        schedules: ["GetItem", "UpdateItem"],
        service: ["GetItem", "UpdateItem"],
        // A run that is over comes into the list of steps.
        steps: ["PutItem", "Query"],
        // Mails that are to go out.
        "document-mails": ["Query", "PutItem", "DeleteItem"],
        // When a run's time is over, and when a step is tried again, which may be at once.
        timers: ["PutItem", "DeleteItem"],
        "trigger-state": ["GetItem", "Query", "PutItem", "UpdateItem"],
        vulnerabilities: ["BatchGetItem", "PutItem", "UpdateItem"],
        "vulnerability-identities": ["BatchGetItem", "PutItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
        "workspace-layers": ["GetItem", "PutItem"],
        workspaces: ["GetItem", "BatchGetItem", "UpdateItem"],
      },
      sends: ["conduct", "document-updated"],
      publishes: true,
      blobs: {
        // Layers of workspaces say which files a step has changed.
        get: ["claims", "conversions", "documents", "events", "runs", "workflows", "workspaces"],
        put: ["claims", "conversions", "dead-letters", "documents", "events", "runs"],
        remove: ["conversions", "documents"],
        missing: true,
      },
      converts: true,
      readsMailPassword: true,
    },
    schedules: {
      tables: {
        // Records of lists of which nobody told.
        artifacts: ["BatchGetItem", "DeleteItem"],
        assets: ["BatchGetItem"],
        catalog: ["GetItem"],
        // The reason of a message's last failure.
        "dead-letters": ["BatchGetItem", "UpdateItem"],
        // Old records, and old runs with all that is theirs, are removed.
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"],
        "run-history": ["Query", "DeleteItem"],
        "run-names": ["Query", "DeleteItem"],
        "run-queue": ["GetItem", "Query", "UpdateItem", "DeleteItem"],
        "run-values": ["BatchGetItem", "Query", "DeleteItem"],
        // A run of a job that has ended hands its turn on.
        runs: [
          "GetItem",
          "BatchGetItem",
          "Query:active",
          "PutItem",
          "UpdateItem",
          "DeleteItem",
          "ConditionCheckItem",
        ],
        schedules: ["Query:due", "UpdateItem"],
        service: ["GetItem", "UpdateItem"],
        timers: ["Query:byTime", "PutItem", "DeleteItem"],
        // Events that nobody but the clock records meet triggers, too; keys whose time is over go.
        "trigger-state": ["GetItem", "Query", "Query:expires", "PutItem", "DeleteItem"],
        steps: ["Query", "DeleteItem"],
        vulnerabilities: ["BatchGetItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
        "workspace-layers": ["GetItem"],
        workspaces: ["BatchGetItem"],
      },
      sends: ["conduct"],
      publishes: true,
      // Stalled runs: what their steps need to know is put together anew.
      // Runs that were ended: their steps are told.
      blobs: {
        get: ["claims", "workflows"],
        put: ["claims", "runs"],
        remove: ["events", "runs"],
        missing: true,
      },
      scheduleRules: "reconcile",
    },
    executors: {
      sends: ["conduct"],
      // Work, items and values of runs, and who came first.
      blobs: { get: ["claims", "runs"], put: ["claims", "runs"], missing: true },
      readsSecrets: true,
    },
    // The process `weft worker`, which executes the steps that touch files; Lambda does not call their functions.
    workers: {
      sends: ["conduct"],
      blobs: {
        get: ["claims", "runs", "workspaces"],
        put: ["claims", "runs", "workspaces"],
        missing: true,
      },
      readsSecrets: true,
    },
    converter: {},
  },
  documents: {
    http: {
      tables: {
        "access-token-entries": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "access-tokens": ["GetItem", "BatchGetItem", "PutItem", "DeleteItem"],
        "document-accesses": [
          ...(["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"] as const),
          "ConditionCheckItem",
        ],
        "document-children": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-relations": ["BatchGetItem", "Query", "UpdateItem"],
        "document-access-requests": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-invitations": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-invited": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-mails": ["PutItem"],
        "document-versions": ["GetItem", "Query", "PutItem", "DeleteItem"],
        // What changed since a list was made last.
        "document-change-counts": ["Query", "UpdateItem"],
        "document-changes": ["Query", "PutItem"],
        "document-comments": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "document-threads": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        documents: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"],
        "user-directory": ["GetItem", "Query", "PutItem", "UpdateItem"],
        "user-identities": ["GetItem", "Query", "PutItem"],
        users: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        // Those who have an address, and those whose rows of access are listed, are read together.
        // Whatever changes tells of it, and may set off a trigger.
        catalog: ["GetItem"],
        "event-log": ["PutItem"],
        "event-tail": ["PutItem"],
        // What a timer is told of that comes too late for a queue is no longer there.
        timers: ["DeleteItem"],
        "trigger-state": ["Query"],
        workflows: ["Query:list"],
      },
      sends: ["document-updated"],
      publishes: true,
      blobs: {
        get: ["conversions", "documents", "uploads"],
        put: ["conversions", "documents", "uploads"],
        remove: ["conversions", "documents"],
        // Of an upload nothing may have come.
        missing: true,
      },
      converts: true,
      readsToken: true,
      readsDocumentSecrets: true,
    },
    consumers: {},
    schedules: {},
    executors: {},
    workers: {},
    // What it opens may be meant to harm.
    converter: { blobs: { get: ["conversions"], put: ["conversions"] } },
  },
};
