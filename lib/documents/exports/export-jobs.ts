import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, authorize } from "../authorization/document-access.ts";
import { exportKey, exportsTable, type StoredExport } from "../tables/exports.ts";
import type { StoredUser } from "../tables/users.ts";
import { cannotExport, type ExportDeps, type ExportOptions } from "./export-document.ts";
import { FILE_TYPES, storedFormat, ZIP_TYPE } from "./formats.ts";
import { UNTITLED } from "./linked-documents.ts";

/** The queue of the consumer that writes and removes exports. */
export const EXPORTS_QUEUE = "exports";
/** How long an export and its link are valid, milliseconds. */
const EXPORT_MS = 24 * 3_600_000;
/** Exports of one user that are not done. */
const ACTIVE_MAX = 3;
const LISTED_MAX = 100;

export interface ExportMessage {
  readonly export_id: string;
  /** Its time is over. */
  readonly expired?: true;
}

export const exportRecord = z
  .object({
    id: z.string(),
    status: z.enum(["waiting", "running", "done", "failed"]),
    progress: z
      .object({ done: z.int(), total: z.int() })
      .describe("Documents that were written, and all of them"),
    url: z
      .string()
      .nullable()
      .describe("Where the file is, without a token, until it expires; null until it is done"),
    bytes: z.int().nullable(),
    error: z.string().nullable().describe("Why it failed"),
    created_at: z.string().meta({ format: "date-time" }),
    expires_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Export" });
export type ExportRecord = z.infer<typeof exportRecord>;

type JobDeps = AuthorizationDeps & Pick<Ports, "ids" | "timers"> & Pick<ExportDeps, "renderer">;

interface NewExport {
  /** Undefined for all data of the user. */
  readonly document?: string;
  /** Of this document alone; undefined for a zip of the tree. */
  readonly file?: Pick<ExportOptions, "format" | "hasComments">;
  readonly baseUrl: string;
}

/**
 * Starts an export of a tree, of one document, or of all data of a user. Returns the one that is in progress if there is one: a repeated
 * request starts nothing. Throws `not_found`, `forbidden`, `too_many_requests` if too many exports of the user are in
 * progress, `unavailable` if this installation cannot write exports.
 */
export async function startExport(
  deps: JobDeps,
  user: StoredUser,
  { document, file, baseUrl }: NewExport,
): Promise<ExportRecord> {
  const { tables, clock, ids, timers } = deps;
  const title =
    document === undefined
      ? "export"
      : ((await authorize(deps, user, document, "content_retrieve")).document.title ?? "") || UNTITLED;
  if (deps.renderer === undefined) throw cannotExport();
  const { items } = await tables.query(exportsTable, {
    index: "users",
    pk: user.id,
    reverse: true,
    limit: LISTED_MAX,
  });
  const now = clock.now();
  const active = items.filter(
    ({ status, expires_at }) =>
      (status === "waiting" || status === "running") && Date.parse(expires_at) > now,
  );
  const same = active.find(
    (one) =>
      one.document === (document ?? null) &&
      one.format === file?.format &&
      (one.comments ?? false) === (file?.hasComments ?? false),
  );
  if (same !== undefined) return toExport(same);
  if (active.length >= ACTIVE_MAX)
    throw new ApiError("too_many_requests", "Too many exports are in progress.");
  const id = ids.random();
  const expiresAt = now + EXPORT_MS;
  const item: StoredExport = {
    ...exportKey(id),
    id,
    user: user.id,
    document: document ?? null,
    ...(file === undefined ? {} : { format: file.format, comments: file.hasComments }),
    status: "waiting",
    done: 0,
    total: 0,
    base_url: baseUrl,
    secret: ids.random(),
    name: `${title}${file === undefined ? ".zip" : FILE_TYPES[file.format].extension}`,
    attempts: 0,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    expires: Math.ceil(expiresAt / 1000),
  };
  // Before the row: whatever a crash leaves is removed.
  await timers.set(`exports:${id}:expire`, expiresAt, EXPORTS_QUEUE, {
    body: JSON.stringify({ export_id: id, expired: true } satisfies ExportMessage),
  });
  await tables.write([{ op: "put", table: exportsTable, item }]);
  await timers.set(`exports:${id}:start`, now, EXPORTS_QUEUE, {
    body: JSON.stringify({ export_id: id } satisfies ExportMessage),
  });
  return toExport(item);
}

/** Throws `not_found` for exports of others, and for those that have expired. */
export async function readExport(
  deps: Pick<Ports, "tables" | "clock">,
  user: StoredUser,
  id: string,
): Promise<ExportRecord> {
  const found = await findExport(deps, id);
  if (found?.user !== user.id) throw exportNotFound();
  return toExport(found);
}

/** The file of an export that is done, for whoever has the link. Throws `not_found`. */
export async function openExport(
  deps: Pick<Ports, "tables" | "clock">,
  id: string,
  token: string,
): Promise<{ readonly name: string; readonly type: string; readonly bytes: number }> {
  const found = await findExport(deps, id);
  if (found?.status !== "done" || !isSame(found.secret, token)) throw exportNotFound();
  const format = storedFormat(found);
  const type = format === undefined ? ZIP_TYPE : FILE_TYPES[format].type;
  return { name: found.name, type, bytes: found.bytes ?? 0 };
}

async function findExport(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  id: string,
): Promise<StoredExport | undefined> {
  const found = await tables.get(exportsTable, exportKey(id));
  return found !== undefined && Date.parse(found.expires_at) > clock.now() ? found : undefined;
}

const isSame = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
};

export const exportNotFound = (): ApiError => new ApiError("not_found", "No Export matches the given query.");

function toExport(stored: StoredExport): ExportRecord {
  const { id, status, done, total, bytes, error, secret, base_url, created_at, expires_at } = stored;
  const url = status === "done" ? `${base_url}/api/v1.0/exports/${id}/file/?token=${secret}` : null;
  return {
    id,
    status,
    progress: { done, total },
    url,
    bytes: bytes ?? null,
    error: error ?? null,
    created_at,
    expires_at,
  };
}
