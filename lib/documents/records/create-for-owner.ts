import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { AuthorizationDeps } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent, sharedEvent } from "../events/document-event.ts";
import { planInitialAccess } from "../grants/grants.ts";
import { planMail } from "../mail/queue.ts";
import { acceptInvitations } from "../sharing/accept-invitations.ts";
import { planInvitation } from "../sharing/invitations.ts";
import { normalizeEmail, type StoredUser } from "../tables/users.ts";
import {
  CONTENT_MAX_BYTES,
  type ContentHead,
  versionBlob,
  versionKey,
  versionsTable,
} from "../tables/versions.ts";
import { allocateOrder } from "../tree/siblings.ts";
import { planInsert } from "../tree/tree-writes.ts";
import { removeVersionBlobs } from "../updates/version-retention.ts";
import { getOrCreateOwner, userBySub, usersByEmail } from "../users/users.ts";

import type { ForOwnerBody } from "./for-owner-body.ts";

export type ForOwnerDeps = CommitDeps &
  AuthorizationDeps &
  Pick<Ports, "ids" | "blobs"> & { readonly converter?: Converter };

const SHOWN_MAX = 100;

/** Throws `unauthorized` unless the request has a server-to-server token. Reference 1.8. */
export function requireServerToken(
  { documents }: Pick<ForOwnerDeps, "documents">,
  header: string | undefined,
): void {
  if (header === undefined) throw new ApiError("unauthorized", "Authorization header is missing.");
  const token = /^Bearer ([^\s]+)$/i.exec(header)?.[1];
  if (token === undefined) throw new ApiError("unauthorized", "Invalid authorization header.");
  const sent = digest(token);
  // Compares all tokens in constant time.
  const known = documents.serverTokens.filter((one) => timingSafeEqual(digest(one), sent));
  if (known.length === 0) throw new ApiError("unauthorized", "Invalid server-to-server token.");
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/**
 * Creates a root from markdown, owned by the user with this `sub` or email address; if there is no such user, the
 * address is invited as owner. Sends them an email. Returns the id. Throws `bad_request` with field errors,
 * `unavailable` without a converter. Reference 1.8.
 */
export async function createForOwner(deps: ForOwnerDeps, body: ForOwnerBody): Promise<string> {
  const language = resolveLanguage(deps, body.language);
  await findOwner(deps, body);
  const bytes = await convertMarkdown(deps, body.content);
  const id = deps.ids.random();
  const version = deps.ids.ordered();
  await deps.blobs.put(versionBlob(id, version), bytes);
  const made = commitChange(deps, async () => {
    const user = await findOwner(deps, body);
    const at = new Date(deps.clock.now()).toISOString();
    const held = user === undefined ? 0 : 1;
    const content: ContentHead = {
      version,
      etag: hash("md5", bytes),
      bytes: bytes.length,
      kind: "yjs",
      saved_at: at,
    };
    const { document, writes } = planInsert(
      {
        id,
        title: body.title,
        excerpt: null,
        link_reach: "restricted",
        link_role: "reader",
        creator: user?.id ?? null,
        duplicated_from: null,
        created_at: at,
        updated_at: at,
        deleted_at: null,
        accesses: held,
        owners: held,
        content,
      },
      { parent: undefined, ...(await allocateOrder(deps, null, "last")) },
    );
    return {
      writes: [
        ...writes,
        ...planFirstVersion(id, content, user),
        ...(user === undefined
          ? planInvitation(deps, { document: id, email: body.email, role: "owner", issuer: null }).writes
          : planInitialAccess(deps, id, user.id, "owner")),
        ...(body.send_notification_email
          ? planMail(deps, {
              kind: "created",
              to: user?.email ?? body.email,
              role: "owner",
              document,
              sender: undefined,
              language: user?.language ?? language,
              ...(body.subject ? { subject: body.subject } : {}),
              ...(body.message ? { message: body.message } : {}),
            })
          : []),
      ],
      events: [
        documentEvent("documents.created", document, user),
        sharedEvent(
          document,
          undefined,
          { user: user?.id ?? null, team: null, role: "owner" },
          user === undefined ? "invited" : "given",
        ),
      ],
      result: undefined,
    };
  });
  await made.catch(async (error: unknown) => {
    // An ApiError means that nothing was committed; after other errors that is unknown.
    if (error instanceof ApiError) await removeVersionBlobs(deps, id, [version]);
    throw error;
  });
  // A user who signed in meanwhile has not seen the invitation.
  if (!deps.documents.allowDuplicateEmails)
    for (const user of await usersByEmail(deps, body.email)) await acceptInvitations(deps, user);
  return id;
}

function planFirstVersion(
  id: string,
  { etag, bytes, kind, saved_at, version }: ContentHead,
  by?: StoredUser,
): Write[] {
  const item = {
    ...versionKey(id, version),
    etag,
    bytes,
    kind,
    last_modified: saved_at,
    author: by?.id ?? null,
  };
  return [{ op: "put", table: versionsTable, item, when: [["pk", "missing"]] }];
}

/** Finds the future owner; undefined if they have no account. */
async function findOwner(
  deps: ForOwnerDeps,
  { sub, email }: Pick<ForOwnerBody, "sub" | "email">,
): Promise<StoredUser | undefined> {
  const { ownerEmail, fallbackToEmail, allowDuplicateEmails } = deps.documents;
  const known = await userBySub(deps, sub);
  if (known !== undefined) return known;
  // The installation's owner is created on first use.
  if (email === normalizeEmail(ownerEmail)) await getOrCreateOwner(deps, ownerEmail);
  const [only, ...others] = await usersByEmail(deps, email);
  if (only === undefined) return undefined;
  if (fallbackToEmail && others.length === 0) return only;
  if (!fallbackToEmail && allowDuplicateEmails) return undefined;
  throw refused("email", "This email is already associated to a registered user.");
}

function resolveLanguage({ documents }: ForOwnerDeps, asked: string | null | undefined): string {
  const { LANGUAGES, LANGUAGE_CODE } = documents.clientSettings;
  if (asked == null) return LANGUAGE_CODE;
  if (LANGUAGES.some(([code]) => code === asked)) return asked;
  throw refused("language", `"${asked.slice(0, SHOWN_MAX)}" is not a valid choice.`);
}

async function convertMarkdown({ converter }: ForOwnerDeps, markdown: string): Promise<Uint8Array> {
  if (converter === undefined)
    throw new ApiError(
      "unavailable",
      "This installation cannot convert content. Run the conversion service on a server",
    );
  const bytes = Buffer.from(markdown, "utf8");
  const outcome = await converter.convert({ from: "markdown", bytes, to: "yjs" });
  if (!outcome.ok || typeof outcome.value === "string" || outcome.value.length > CONTENT_MAX_BYTES)
    throw refused("content", "Could not convert content");
  return outcome.value;
}

const refused = (field: string, message: string): ApiError =>
  new ApiError("bad_request", message, { body: { [field]: [message] } });
