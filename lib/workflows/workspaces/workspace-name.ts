import { createHash } from "node:crypto";

/** Longest folder name of a workspace, characters. */
const WORKSPACE_MAX_LENGTH = 100;
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._@+=-]*$/;

/**
 * Returns a folder name for a workspace: the text itself if it is safe, else a readable form of it with a hash, so that
 * different texts never share a folder.
 */
export function workspaceName(text: string): string {
  if (SAFE.test(text) && text.length <= WORKSPACE_MAX_LENGTH) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  const readable = text
    .replaceAll(/[^A-Za-z0-9._@+=-]/g, "_")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, WORKSPACE_MAX_LENGTH - hash.length - 1);
  return readable === "" ? `ws-${hash}` : `${readable}-${hash}`;
}
