import { ApiError } from "../../errors.ts";
import type { KeySet } from "../../settings/key-set.ts";

/** The public half of the installation's key. Throws `not_found` where none is set. */
export function keySetOf({
  documents,
}: {
  readonly documents: { readonly keySet: KeySet | undefined };
}): KeySet {
  if (documents.keySet === undefined) throw new ApiError("not_found", "Not found.");
  return documents.keySet;
}
