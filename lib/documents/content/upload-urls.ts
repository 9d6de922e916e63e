import * as z from "zod";
import { ApiError, ERROR_STATUS } from "../../errors.ts";
import type { ExpectedUpload, UPLOADS_PREFIX } from "../../platform/blobs.ts";
import type { Ports } from "../../platform/ports.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import { findUser } from "../users/users.ts";

const PREFIX: typeof UPLOADS_PREFIX = "uploads/";
/** Validity of an upload URL, seconds. */
export const UPLOAD_SECONDS = 15 * 60;

/** Body of a request to upload content. */
export const uploadBody = z.object({
  bytes: z.int().min(1).max(CONTENT_MAX_BYTES).describe("Size of the content, not encoded as base64"),
});

/** An upload URL, of content or of an attachment. */
export const uploadRecord = z
  .object({
    id: z.string(),
    method: z.literal("PUT"),
    url: z.string().describe("Accepts the bytes once, without a token"),
    headers: z.record(z.string(), z.string()).describe("Headers to send with the upload"),
    expires_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "ContentUpload" });
export type UploadRecord = z.infer<typeof uploadRecord>;

export const uploadIdParam = z.guid().transform((id) => id.toLowerCase());

const ANONYMOUS = "anonymous";

/** The key contains the user, so that no other user can finish the upload. */
export const uploadBlob = ({ document, viewer }: DocumentAccess, upload: string): string =>
  `${PREFIX}documents/${document.id}/${viewer?.id ?? ANONYMOUS}/${upload}`;

interface UploadRequest {
  readonly bytes: number;
  readonly baseUrl: string;
  /** The credential of the request; undefined if anonymous. */
  readonly credential: { readonly id: string; readonly expiresAt?: number | undefined } | undefined;
}

/**
 * Creates an upload URL for content or a file that is too large for a request. URLs of this installation are below `baseUrl`.
 * Throws `not_found`, `unauthorized`, `forbidden`.
 */
export async function beginUpload(
  deps: AuthorizationDeps & Pick<Ports, "blobs" | "ids">,
  viewer: Viewer,
  id: string,
  { bytes, baseUrl, credential }: UploadRequest,
): Promise<UploadRecord> {
  const access = await authorize(deps, viewer, id, "content_patch");
  const upload = deps.ids.random();
  const now = deps.clock.now();
  const left = Math.ceil(((credential?.expiresAt ?? Number.POSITIVE_INFINITY) - now) / 1000);
  const seconds = Math.max(1, Math.min(UPLOAD_SECONDS, left));
  const expires_at = new Date(now + seconds * 1000).toISOString();
  const allowed = { bytes, seconds, credential: credential?.id };
  const { method, url, headers } = await deps.blobs.uploadTo(uploadBlob(access, upload), allowed);
  return { id: upload, method, url: url.startsWith("/") ? `${baseUrl}${url}` : url, headers, expires_at };
}

/** Whether an upload URL is still valid: its credential has not been revoked, and its user can edit the document. */
export async function isUploadAllowed(
  deps: AuthorizationDeps & { readonly auth: { isValid(credentialId: string): Promise<boolean> } },
  { key, credential }: Pick<ExpectedUpload, "key" | "credential">,
): Promise<boolean> {
  if (credential !== undefined && !(await deps.auth.isValid(credential))) return false;
  const [, , document = "", user = ""] = key.split("/");
  const viewer = user === ANONYMOUS ? undefined : await findUser(deps, user);
  if (user !== ANONYMOUS && viewer?.is_active !== true) return false;
  try {
    await authorize(deps, viewer, document, "content_patch");
    return true;
  } catch (error) {
    if (error instanceof ApiError && ERROR_STATUS[error.code] < 500) return false;
    throw error;
  }
}
