import { ApiError } from "../../errors.ts";
import type { AccessWatch } from "./access-watch.ts";

/** What a caller may do with a document. */
export interface LiveAccess {
  readonly canEdit: boolean;
  /** Id of the user; undefined if anonymous. */
  readonly user: string | undefined;
  /** A time before the caller was authenticated and it was read, milliseconds of `performance.now()`. */
  readonly readAt: number;
}

/** Returns the current access. Throws ApiError if the caller may no longer read the document. */
export type CheckAccess = () => Promise<LiveAccess>;

export interface WatchedRequest {
  readonly document: string;
  readonly access: LiveAccess;
  readonly check: CheckAccess;
  /** Called when the access has changed; with undefined when it is lost. */
  onChange(access: LiveAccess | undefined): void;
}

/** Watches the access of a request in progress. Returns a function that ends this. */
export function watchRequest(
  watch: AccessWatch,
  { document, access, check, onChange }: WatchedRequest,
): () => void {
  let known = access;
  let isOver = false;
  const unwatch = watch.watch({
    document,
    user: access.user,
    authorizedAt: access.readAt,
    check: async () => {
      const current = await readCurrent(check, known);
      if (isOver || current?.canEdit === known.canEdit) return;
      if (current === undefined) end();
      else known = current;
      onChange(current);
    },
  });
  const end = (): void => {
    isOver = true;
    unwatch();
  };
  return end;
}

/** The current access; undefined if it is lost, or if the caller's session or token has ended. */
async function readCurrent(check: CheckAccess, known: LiveAccess): Promise<LiveAccess | undefined> {
  try {
    const current = await check();
    return current.user === known.user ? current : undefined;
  } catch (error) {
    if (error instanceof ApiError && DENIALS.has(error.code)) return undefined;
    throw error;
  }
}

const DENIALS = new Set(["unauthorized", "forbidden", "not_found"]);
