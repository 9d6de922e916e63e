import * as z from "zod";

/** The document (id, title, parent) and the user who changed it. */
const documentBase = {
  document_id: z.string(),
  title: z.string().nullable(),
  parent_id: z.string().nullable(),
  user_id: z.string().nullable(),
};

const attachmentBase = {
  key: z.string(),
  name: z.string(),
  content_type: z.string(),
  bytes: z.int(),
  is_unsafe: z.boolean(),
};

/**
 * The topics that Weft emits, with their payloads. Clients may emit other topics. Seed: workflow 6; payload keys:
 * reference 5.
 */
const runBase = { scan_id: z.string(), target: z.string() };

export const TOPICS = {
  "run.started": {
    meaning: "A run started",
    dataType: "scan",
    data: z.object({
      ...runBase,
      params: z.record(z.string(), z.string()).optional(),
      trigger: z.string().optional(),
      run_group_id: z.string().optional(),
    }),
  },
  "run.completed": {
    meaning: "A run completed",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int(), steps_completed: z.int() }),
  },
  "run.failed": {
    meaning: "A run failed",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int(), error: z.string() }),
  },
  "run.cancelled": {
    meaning: "A run was cancelled",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int() }),
  },
  "run.refused": {
    meaning:
      "A root cause has used its budget of runs and starts no further runs; emitted once per root cause",
    dataType: "scan",
    data: z.object({ root_cause: z.string(), limit: z.int(), topic: z.string(), error: z.string() }),
  },
  "step.completed": {
    meaning: "A step completed",
    dataType: "step",
    data: z.object({
      step_name: z.string(),
      step_type: z.string(),
      duration_ms: z.int(),
      output_lines: z.int(),
    }),
  },
  "step.failed": {
    meaning: "A step failed",
    dataType: "step",
    data: z.object({ step_name: z.string(), step_type: z.string(), duration_ms: z.int(), error: z.string() }),
  },
  "asset.discovered": {
    meaning: "An asset was added to a workspace; in triggers also assets.new",
    dataType: "asset",
    data: z.looseObject({ asset_value: z.string(), asset_type: z.string(), workspace: z.string() }),
  },
  "asset.updated": {
    meaning: "An asset changed; in triggers also assets.updated",
    dataType: "asset",
    data: z.looseObject({
      asset_value: z.string(),
      asset_type: z.string(),
      workspace: z.string(),
      changed: z.array(z.string()),
    }),
  },
  "vuln.found": {
    meaning: "A vulnerability was added to a workspace",
    dataType: "vulnerability",
    data: z.looseObject({
      vulnerability_id: z.int(),
      vuln_title: z.string(),
      severity: z.string(),
      asset_value: z.string(),
      workspace: z.string(),
    }),
  },
  "schedule.triggered": {
    meaning: "A cron, watch or manual trigger fired",
    dataType: "schedule",
    data: z.object({
      schedule_id: z.string(),
      trigger_type: z.enum(["cron", "watch", "manual"]),
      schedule: z.string(),
      slot: z.string().optional(),
      missed: z.int().optional(),
      path: z.string().optional(),
      change: z.enum(["new", "changed"]).optional(),
    }),
  },
  "documents.created": {
    meaning: "A document was created",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.updated": {
    meaning: "A document was edited; one event covers all edits within half a minute",
    dataType: "document",
    data: z.looseObject({
      ...documentBase,
      user_ids: z.array(z.string()).describe("Everyone who edited; at most 100"),
      changed: z.array(z.enum(["content", "title", "excerpt"])),
    }),
  },
  "documents.moved": {
    meaning: "A document was moved, with its descendants",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.deleted": {
    meaning: "A document was moved to the trash, with its descendants",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.restored": {
    meaning: "A document was restored from the trash",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.commented": {
    meaning: "A thread was created on a document, or a comment was added to a thread",
    dataType: "document",
    data: z.object({ ...documentBase, thread_id: z.string(), comment_id: z.string() }),
  },
  "documents.attachment.uploaded": {
    meaning: "A file was uploaded to a document; a workflow may decide whether it is safe",
    dataType: "document",
    data: z.object({ ...documentBase, ...attachmentBase }),
  },
  "documents.attachment.infected": {
    meaning: "An uploaded file is dangerous and was deleted",
    dataType: "document",
    data: z.object({ ...documentBase, ...attachmentBase, finding: z.string() }),
  },
  "webhook.received": {
    meaning: "A webhook trigger received a request",
    dataType: "webhook",
    data: z.looseObject({}),
  },
  "documents.shared": {
    meaning: "The accesses or invitations of a document changed",
    dataType: "document",
    data: z.object({
      document_id: z.string(),
      title: z.string().nullable(),
      parent_id: z.string().nullable(),
      user_id: z.string().nullable(),
      change: z.enum(["given", "changed", "taken", "invited", "link"]),
      shared_with: z.string().nullable(),
      team: z.string().nullable(),
      role: z.string(),
      link_reach: z.enum(["restricted", "authenticated", "public"]).optional(),
    }),
  },
  "documents.access_requested": {
    meaning: "A user requested access to a document",
    dataType: "document",
    data: z.object({
      document_id: z.string(),
      title: z.string().nullable(),
      parent_id: z.string().nullable(),
      user_id: z.string().nullable(),
      role: z.string(),
    }),
  },
} as const;

export type OwnTopic = keyof typeof TOPICS;
export type TopicData<T extends OwnTopic> = z.infer<(typeof TOPICS)[T]["data"]>;
