import * as z from "zod";

/** The document (id, title, parent) and the user who changed it. */
const documentBase = {
  document_id: z.string(),
  title: z.string().nullable(),
  parent_id: z.string().nullable(),
  user_id: z.string().nullable(),
};

/**
 * The topics that Weft emits, with their payloads. Clients may emit other topics. Seed: workflow 6; payload keys:
 * reference 5.
 */
const runBase = { scan_id: z.string(), target: z.string() };

export const TOPICS = {
  "run.started": {
    meaning: "A run began to execute its steps",
    dataType: "scan",
    data: z.object({
      ...runBase,
      params: z.record(z.string(), z.string()).optional(),
      trigger: z.string().optional(),
      run_group_id: z.string().optional(),
    }),
  },
  "run.completed": {
    meaning: "A run ended, all its steps done",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int(), steps_completed: z.int() }),
  },
  "run.failed": {
    meaning: "A run ended because a step or the run itself failed",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int(), error: z.string() }),
  },
  "run.cancelled": {
    meaning: "A run was cancelled by its user",
    dataType: "scan",
    data: z.object({ ...runBase, duration_ms: z.int() }),
  },
  "run.refused": {
    meaning: "A root cause has used its budget of runs: it starts no further ones. Recorded once for each",
    dataType: "scan",
    data: z.object({ root_cause: z.string(), limit: z.int(), topic: z.string(), error: z.string() }),
  },
  "step.completed": {
    meaning: "A step ended well",
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
    meaning: "An asset is new in its workspace; triggers may call it assets.new",
    dataType: "asset",
    data: z.looseObject({ asset_value: z.string(), asset_type: z.string(), workspace: z.string() }),
  },
  "asset.updated": {
    meaning: "What is known of an asset has changed; triggers may call it assets.updated",
    dataType: "asset",
    data: z.looseObject({
      asset_value: z.string(),
      asset_type: z.string(),
      workspace: z.string(),
      changed: z.array(z.string()),
    }),
  },
  "vuln.found": {
    meaning: "A vulnerability is new in its workspace",
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
    meaning: "A trigger was fired by the clock, by a file or by hand",
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
    meaning: "A document was made",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.updated": {
    meaning: "A document was edited: the edits of half a minute are told of together",
    dataType: "document",
    data: z.looseObject({
      ...documentBase,
      changed: z.array(z.enum(["content", "title", "excerpt"])),
    }),
  },
  "documents.moved": {
    meaning: "A document came to lie elsewhere, with all that lies in it",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.deleted": {
    meaning: "A document was put into the trash, with all that lies in it",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.restored": {
    meaning: "A document was brought back from the trash",
    dataType: "document",
    data: z.looseObject(documentBase),
  },
  "documents.commented": {
    meaning: "Somebody began a thread on a document, or added a comment to one",
    dataType: "document",
    data: z.object({ ...documentBase, thread_id: z.string(), comment_id: z.string() }),
  },
  "webhook.received": {
    meaning: "A request came to the address of a webhook trigger",
    dataType: "webhook",
    data: z.looseObject({}),
  },
  "documents.shared": {
    meaning: "A document is shared with somebody otherwise than before",
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
    meaning: "Somebody asked for access to a document",
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
