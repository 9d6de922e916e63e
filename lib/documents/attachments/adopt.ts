import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { AuthorizationDeps, Viewer } from "../authorization/document-access.ts";
import {
  attachmentKey,
  attachmentsTable,
  containedKey,
  documentAttachmentsTable,
} from "../tables/attachments.ts";
import { findUser } from "../users/users.ts";
import { findAttachmentKeys } from "./attachment-keys.ts";
import { mayReadAttachment } from "./media-access.ts";

type TableDeps = Pick<Ports, "tables" | "clock">;

/** Attachments added to a document by one transaction of two writes each. */
const ADDED_AT_ONCE = 40;
/** An attachment that was not referenced for this time begins a new grace period when it is referenced again. */
const FRESH_MS = 24 * 60 * 60_000;

/**
 * Adds the attachments that content references to its document, if the user who saves it may read a document that
 * contains them. It runs before the content is committed, and may be repeated: attachments that are not referenced in
 * the end are removed later. Reference 1.5.
 */
export async function adoptAttachments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  document: string,
  keys: readonly string[],
): Promise<void> {
  const missing = await missingOf(deps, document, keys);
  const allowed: string[] = [];
  for (const key of missing) {
    const home = key.slice(0, key.indexOf("/"));
    if (await mayReadAttachment(deps, viewer, { key, document: home })) allowed.push(key);
  }
  await addAttachments(deps, document, allowed);
}

/** Updates that were appended together, and their authors; null for anonymous ones. */
interface AuthoredUpdates {
  readonly updates: readonly Uint8Array[];
  readonly authors: readonly (string | null)[];
}

/**
 * Adds the attachments that live edits reference to their document. Who of several authors added a reference is
 * unknown, so each of them must be allowed to read the attachment.
 */
export async function adoptFromUpdates(
  deps: AuthorizationDeps,
  document: string,
  entries: readonly AuthoredUpdates[],
): Promise<void> {
  for (const { updates, authors } of entries) {
    const missing = await missingOf(deps, document, [...new Set(updates.flatMap(findAttachmentKeys))]);
    if (missing.length === 0) continue;
    const viewers: Viewer[] = [];
    for (const author of authors) {
      const user = author === null ? undefined : await findUser(deps, author);
      if (author === null || user?.is_active === true) viewers.push(user);
    }
    if (viewers.length < authors.length || viewers.length === 0) continue;
    const allowed: string[] = [];
    for (const key of missing) {
      const home = key.slice(0, key.indexOf("/"));
      const decisions = await Promise.all(
        viewers.map((viewer) => mayReadAttachment(deps, viewer, { key, document: home })),
      );
      if (decisions.every((isAllowed) => isAllowed)) allowed.push(key);
    }
    await addAttachments(deps, document, allowed);
  }
}

/** Adds those attachments of a document to its copy that the content references. Reference 3.4. */
export async function copyAttachments(
  deps: TableDeps,
  from: string,
  to: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  const contained = await deps.tables.batchGet(
    documentAttachmentsTable,
    keys.map((key) => containedKey(from, key)),
  );
  await addAttachments(
    deps,
    to,
    contained.map(({ attachment }) => attachment),
  );
}

/** Returns the existing attachments among `keys` that a document does not contain, and prolongs the others' time. */
async function missingOf(deps: TableDeps, document: string, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const now = deps.clock.now();
  const contained = await deps.tables.batchGet(
    documentAttachmentsTable,
    keys.map((key) => containedKey(document, key)),
  );
  for (const { pk, sk, unreferenced_since: since } of contained)
    if (since !== undefined && since < now - FRESH_MS)
      await deps.tables.update(documentAttachmentsTable, { pk, sk }, { set: { unreferenced_since: now } }, [
        ["unreferenced_since", "=", since],
      ]);
  const known = new Set(contained.map(({ attachment }) => attachment));
  const unknown = keys.filter((key) => !known.has(key));
  const stored = await deps.tables.batchGet(attachmentsTable, unknown.map(attachmentKey));
  return stored.filter(({ state }) => state !== "infected").map(({ pk }) => pk);
}

async function addAttachments(deps: TableDeps, document: string, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += ADDED_AT_ONCE) {
    const some = keys.slice(at, at + ADDED_AT_ONCE);
    const outcome = await deps.tables.write(some.flatMap((key) => planAdded(deps, document, key)));
    if (outcome.ok || some.length === 1) continue;
    // One of them was deleted or added meanwhile.
    for (const key of some) await deps.tables.write(planAdded(deps, document, key));
  }
}

function planAdded({ clock }: TableDeps, document: string, key: string): Write[] {
  return [
    {
      op: "put",
      table: documentAttachmentsTable,
      item: {
        ...containedKey(document, key),
        attachment: key,
        document,
        unreferenced_since: clock.now(),
      },
      when: [["pk", "missing"]],
    },
    {
      op: "update",
      table: attachmentsTable,
      key: attachmentKey(key),
      change: { add: { documents: 1 } },
      when: [
        ["pk", "exists"],
        ["state", "<>", "infected"],
      ],
    },
  ];
}
