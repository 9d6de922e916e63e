import type { StackService } from "./services.ts";

/** The kinds of functions of a service; each has one role. */
export type FunctionKind =
  | "http"
  | "consumers"
  | "schedules"
  | "executors"
  | "workers"
  | "converter"
  | "renderer";

/** Rights to a DynamoDB table; `Query:name` is a query of that index, `Query` one of the table itself. */
export type TableGrant =
  | "GetItem"
  | "BatchGetItem"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem"
  | "ConditionCheckItem"
  | "Query"
  | `Query:${string}`;

/** Prefix of blob keys: a folder's name without a trailing slash. */
export interface BlobAccess {
  readonly get: readonly string[];
  readonly put: readonly string[];
  readonly remove?: readonly string[];
  /** Reads blobs that may not exist: S3 returns 404 only to callers that may list the bucket. */
  readonly maybeMissing?: true;
}

/** What the functions of one kind may do, besides reading their own queues. */
export interface Access {
  /** By table name. */
  readonly tables?: Readonly<Record<string, readonly TableGrant[]>>;
  /** Consumers whose queues it sends to; `all` of the service. */
  readonly sends?: readonly string[] | "all";
  /** Reads the depth of every queue of the service. */
  readonly watchesQueues?: true;
  readonly publishes?: true;
  readonly blobs?: BlobAccess;
  /** Invokes the converter. */
  readonly converts?: true;
  /** Invokes the renderer. */
  readonly renders?: true;
  /** Creates rules for the expressions of schedules, or also deletes unused ones. */
  readonly scheduleRules?: "ensure" | "reconcile";
  /** Reads the owner's token from the parameter store. */
  readonly readsToken?: true;
  /** Reads the secrets whose names begin with `LLM_`: keys of language models. */
  readonly readsModelKeys?: true;
  /** Reads the mail server's password, a secret with the setting's name. */
  readonly readsMailPassword?: true;
  /** Reads secrets of the documents, and their theme. */
  readonly readsDocumentSecrets?: true;
  /** Reads the secrets of workflows from the parameter store. */
  readonly readsSecrets?: true;
}

/**
 * The rights of each role. Users' code runs with the role of the executors, which has no tables: the message contains
 * what they need, and they report to the conductor.
 */
export const ACCESS: Readonly<Record<StackService, Readonly<Record<FunctionKind, Access>>>> = {
  workflows: {
    http: {
      tables: {
        // To identify the user of a token or a session, whose use is recorded.
        "access-tokens": ["GetItem"],
        "document-sessions": ["GetItem", "UpdateItem"],
        users: ["GetItem"],
        artifacts: ["BatchGetItem", "PutItem"],
        "asset-facets": ["Query", "PutItem"],
        assets: ["BatchGetItem", "PutItem", "UpdateItem"],
        catalog: ["GetItem", "UpdateItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "BatchGetItem", "DeleteItem"],
        // The oldest one is removed when there are too many.
        diffs: ["Query", "PutItem", "DeleteItem"],
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "DeleteItem"],
        // A redriven dead letter leaves its list at once.
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "run-history": ["Query", "PutItem"],
        "run-names": ["GetItem", "Query", "PutItem"],
        "run-queue": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        // A resumed or rerun run inherits the values of another one.
        "run-values": ["GetItem", "BatchGetItem", "Query", "PutItem"],
        runs: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        schedules: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        service: ["GetItem", "UpdateItem"],
        steps: ["GetItem", "Query", "PutItem", "BatchGetItem"],
        // State of triggers: enabled flags, schedules created by request, webhooks, idempotency keys, and the number of
        // runs per root cause.
        "trigger-state": ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "workflow-revisions": ["GetItem", "BatchGetItem", "PutItem"],
        workflows: ["GetItem", "Query:list", "PutItem"],
        "workspace-layers": ["GetItem", "PutItem"],
        vulnerabilities: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "vulnerability-identities": ["GetItem", "BatchGetItem", "PutItem", "DeleteItem"],
        workspaces: ["GetItem", "BatchGetItem", "UpdateItem"],
      },
      // A dead letter is redriven to its queue.
      sends: "all",
      watchesQueues: true,
      publishes: true,
      blobs: {
        get: [
          "claims",
          "dead-letters",
          "diffs",
          "events",
          "runs",
          "workflows",
          "snapshots",
          "web",
          "workspaces",
        ],
        put: ["claims", "diffs", "events", "runs", "workflows", "snapshots", "workspaces"],
        remove: ["diffs", "snapshots"],
        maybeMissing: true,
      },
      scheduleRules: "ensure",
      readsToken: true,
      readsModelKeys: true,
    },
    consumers: {
      tables: {
        // Of events that steps generate, and of imports.
        artifacts: ["BatchGetItem", "PutItem"],
        "asset-facets": ["PutItem"],
        assets: ["BatchGetItem", "PutItem", "UpdateItem"],
        catalog: ["GetItem"],
        counters: ["UpdateItem"],
        "dead-letters": ["GetItem", "BatchGetItem", "UpdateItem"],
        // Sends the events of edits, and removes the content of unfinished saves.
        documents: [
          ...(["GetItem", "UpdateItem", "BatchGetItem", "PutItem", "DeleteItem"] as const),
          "ConditionCheckItem",
        ],
        "document-versions": ["GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"],
        "document-updates": ["Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        // The full-text index of documents.
        "full-text-entries": ["BatchGetItem", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "full-text-postings": ["PutItem", "DeleteItem"],
        // Document calls of scripts, as a user of the documents.
        // Attachments that edits reference, or nothing references any more.
        attachments: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "attachment-usage": ["GetItem", "UpdateItem"],
        "document-attachments": [
          ...(["GetItem", "BatchGetItem", "Query", "Query:documents", "PutItem", "UpdateItem"] as const),
          "DeleteItem",
        ],
        "document-imports": ["GetItem", "UpdateItem", "DeleteItem"],
        "document-exports": ["GetItem", "UpdateItem", "DeleteItem"],
        // Completes or removes an interrupted move.
        "document-accesses": ["BatchGetItem", "Query", "PutItem", "DeleteItem"],
        "document-invitations": ["Query", "DeleteItem"],
        "document-invited": ["GetItem", "DeleteItem"],
        "document-change-counts": ["UpdateItem"],
        "document-changes": ["PutItem"],
        "document-children": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-comments": ["GetItem", "BatchGetItem", "Query", "PutItem"],
        "document-relations": ["BatchGetItem", "Query", "UpdateItem"],
        "document-threads": ["GetItem", "Query", "PutItem", "UpdateItem"],
        // A script's call may create the owner's user.
        "user-directory": ["PutItem", "UpdateItem"],
        "user-identities": ["Query", "PutItem"],
        users: ["GetItem", "BatchGetItem", "PutItem"],
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "event-tail": ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        "run-history": ["PutItem"],
        "run-names": ["PutItem"],
        "run-queue": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "run-values": ["BatchGetItem", "PutItem"],
        runs: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        // Number of firings of a trigger, and number of runs that led to one, signed with a key of the installation.
        schedules: ["GetItem", "BatchGetItem", "UpdateItem"],
        service: ["GetItem", "UpdateItem"],
        // A finished run is added to the list of steps.
        steps: ["PutItem", "Query"],
        // Outgoing mails.
        "document-mails": ["Query", "PutItem", "DeleteItem"],
        notifications: [
          "GetItem",
          "BatchGetItem",
          "Query",
          "PutItem",
          "UpdateItem",
          "DeleteItem",
          "ConditionCheckItem",
        ],
        // Who may see runs, and is notified of failed ones.
        "access-token-entries": ["Query"],
        "access-tokens": ["BatchGetItem"],
        "document-session-entries": ["Query"],
        "document-sessions": ["BatchGetItem"],
        // The timeout of a run, and the retry of a step, which may be immediate.
        timers: ["PutItem", "DeleteItem"],
        "trigger-state": ["GetItem", "Query", "PutItem", "UpdateItem"],
        vulnerabilities: ["BatchGetItem", "PutItem", "UpdateItem"],
        "vulnerability-identities": ["BatchGetItem", "PutItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
        "workspace-layers": ["GetItem", "PutItem"],
        workspaces: ["GetItem", "BatchGetItem", "UpdateItem"],
      },
      sends: ["attachments", "conduct", "document-updated", "imports", "index-documents", "send-mail"],
      publishes: true,
      blobs: {
        // Layers of workspaces contain the files that a step has changed.
        get: [
          ...["claims", "conversions", "documents", "events", "imports", "media", "renderings", "runs"],
          ...["workflows", "workspaces"],
        ],
        put: [
          ...["claims", "conversions", "dead-letters", "documents", "events", "exports", "media"],
          ...["renderings", "runs"],
        ],
        remove: ["conversions", "documents", "exports", "imports", "media", "renderings"],
        maybeMissing: true,
      },
      converts: true,
      renders: true,
      readsMailPassword: true,
    },
    schedules: {
      tables: {
        // Pending entries of indexes that were never flushed.
        artifacts: ["BatchGetItem", "DeleteItem"],
        assets: ["BatchGetItem"],
        catalog: ["GetItem"],
        // The reason of a message's last failure.
        "dead-letters": ["BatchGetItem", "UpdateItem"],
        // Removes old records, and old runs with their data.
        "event-log": ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "event-tail": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "list-entries": ["BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "ranked-index": ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "run-history": ["Query", "DeleteItem"],
        "run-names": ["Query", "DeleteItem"],
        "run-queue": ["GetItem", "Query", "UpdateItem", "DeleteItem"],
        "run-values": ["BatchGetItem", "Query", "DeleteItem"],
        // A finished run of a job starts the next one.
        runs: [
          ...(["GetItem", "BatchGetItem", "Query:active", "Query:unfinished", "PutItem"] as const),
          ...(["UpdateItem", "DeleteItem", "ConditionCheckItem"] as const),
        ],
        schedules: ["Query:due", "UpdateItem"],
        service: ["GetItem", "UpdateItem"],
        timers: ["Query:byTime", "PutItem", "DeleteItem"],
        // Events that only the schedule records match triggers, too; expired keys are removed.
        "trigger-state": ["GetItem", "Query", "Query:expires", "PutItem", "DeleteItem"],
        steps: ["Query", "DeleteItem"],
        vulnerabilities: ["BatchGetItem"],
        "workflow-revisions": ["GetItem"],
        workflows: ["GetItem", "Query:list"],
        "workspace-layers": ["GetItem"],
        workspaces: ["BatchGetItem"],
      },
      sends: ["attachments", "conduct", "exports", "imports", "send-mail"],
      publishes: true,
      // Stalled runs: the payloads of their steps are built again.
      // Cancelled runs: their steps are notified.
      blobs: {
        get: ["claims", "workflows"],
        put: ["claims", "runs"],
        remove: ["events", "runs"],
        maybeMissing: true,
      },
      scheduleRules: "reconcile",
    },
    executors: {
      sends: ["conduct"],
      // Work, items and values of runs, and claims.
      blobs: { get: ["claims", "runs"], put: ["claims", "runs"], maybeMissing: true },
      readsSecrets: true,
    },
    // The process `weft worker` executes the steps that use files; Lambda does not invoke their functions.
    workers: {
      sends: ["conduct"],
      blobs: {
        get: ["claims", "runs", "workspaces"],
        put: ["claims", "runs", "workspaces"],
        maybeMissing: true,
      },
      readsSecrets: true,
    },
    converter: {},
    renderer: {},
  },
  documents: {
    http: {
      tables: {
        "access-token-entries": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "access-tokens": ["GetItem", "BatchGetItem", "PutItem", "DeleteItem"],
        // An import that fails removes what it has written.
        attachments: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "attachment-usage": ["GetItem", "UpdateItem"],
        "document-attachments": [
          "GetItem",
          "BatchGetItem",
          "Query",
          "Query:documents",
          "PutItem",
          "UpdateItem",
          "DeleteItem",
        ],
        "document-accesses": [
          ...(["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"] as const),
          "ConditionCheckItem",
        ],
        "document-children": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-relations": ["BatchGetItem", "Query", "UpdateItem"],
        "document-access-requests": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-exports": ["GetItem", "Query:users", "PutItem"],
        "document-invitations": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-invited": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-imports": ["GetItem", "PutItem", "UpdateItem", "DeleteItem"],
        "document-mails": ["PutItem"],
        notifications: ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "document-login-states": ["GetItem", "Query:expires", "PutItem", "DeleteItem"],
        "document-versions": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "collaboration-tickets": ["GetItem", "PutItem", "DeleteItem", "Query:expires"],
        // Leases of rooms: the nodes of a separate collaboration server, and which of them owns which room.
        "collaboration-nodes": [
          ...(["GetItem", "Query:expires", "PutItem", "UpdateItem", "DeleteItem"] as const),
          "ConditionCheckItem",
        ],
        "collaboration-rooms": ["GetItem", "Query:node", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "document-updates": ["Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        "document-login-links": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-session-entries": ["GetItem", "Query", "PutItem", "DeleteItem"],
        "document-sessions": [
          ...(["GetItem", "BatchGetItem", "Query:expires", "PutItem", "UpdateItem"] as const),
          "DeleteItem",
        ],
        "document-ai-usage": ["BatchGetItem", "PutItem"],
        // Expired states are deleted.
        "document-awareness": ["Query", "PutItem", "DeleteItem"],
        // Changes since a list was built, or since the collaboration server asked.
        "document-change-counts": ["Query", "UpdateItem"],
        "document-changes": ["Query", "PutItem", "DeleteItem"],
        "document-comments": ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        "document-threads": ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"],
        documents: [
          ...(["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"] as const),
          "ConditionCheckItem",
        ],
        "full-text-entries": ["BatchGetItem"],
        "full-text-postings": ["Query"],
        "user-directory": ["GetItem", "Query", "PutItem", "UpdateItem"],
        "user-identities": ["GetItem", "Query", "PutItem"],
        users: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
        // Users with an email address, and users of listed accesses, are read in batches.
        // Changes emit events, and may fire triggers.
        catalog: ["GetItem"],
        "event-log": ["PutItem"],
        "event-tail": ["PutItem"],
        // The message of a timer that is too late for a queue is deleted.
        // The end of an export's link.
        timers: ["PutItem", "DeleteItem"],
        "trigger-state": ["Query"],
        workflows: ["Query:list"],
      },
      sends: ["attachments", "document-updated", "exports", "imports", "index-documents"],
      publishes: true,
      blobs: {
        get: ["conversions", "documents", "exports", "media", "renderings", "uploads"],
        put: ["conversions", "documents", "imports", "media", "renderings", "uploads"],
        remove: ["conversions", "documents", "imports", "media", "renderings"],
        // Nothing may have been uploaded.
        maybeMissing: true,
      },
      converts: true,
      renders: true,
      readsToken: true,
      readsDocumentSecrets: true,
    },
    consumers: {},
    schedules: {},
    executors: {},
    workers: {},
    // They parse untrusted content.
    converter: { blobs: { get: ["conversions"], put: ["conversions"] } },
    renderer: { blobs: { get: ["renderings"], put: ["renderings"] } },
  },
};
