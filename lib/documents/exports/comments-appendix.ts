import type { RenderedComment } from "../../platform/renderer.ts";
import type { AuthorizationDeps, Viewer } from "../authorization/document-access.ts";
import { listThreads } from "../threads/read.ts";

const TEXT_MAX_LENGTH = 20_000;
const DEPTH_MAX = 50;

/** The comments of a document, oldest thread first. Throws `not_found`, `unauthorized`, `forbidden`. */
export async function readComments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
): Promise<RenderedComment[]> {
  const threads = await listThreads(deps, viewer, id);
  return threads.toReversed().flatMap(({ comments, resolved }) =>
    comments.map(({ user, body, created_at }, at) => ({
      author: user?.full_name || user?.short_name || "–",
      at: created_at,
      text: commentText(body).slice(0, TEXT_MAX_LENGTH).trim(),
      isFirst: at === 0,
      isResolved: resolved && at === 0,
    })),
  );
}

/** The text of a comment, which is what an editor sent: blocks, or any other JSON value. */
export function commentText(body: unknown, depth = 0): string {
  if (typeof body === "string") return body;
  if (body === null || typeof body !== "object" || depth > DEPTH_MAX) return "";
  if (Array.isArray(body)) return body.map((one) => commentText(one, depth + 1)).join("");
  const { text, content, children, type } = body as Readonly<Record<string, unknown>>;
  const own = typeof text === "string" ? text : commentText(content, depth + 1);
  const isBlock = children !== undefined || type === "paragraph";
  return `${own}${isBlock ? "\n" : ""}${commentText(children, depth + 1)}`;
}
