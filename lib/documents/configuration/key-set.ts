import { ApiError } from "../../errors.ts";
import type { KeySet } from "../../settings/key-set.ts";

/** Returns the installation's public keys. Throws `not_found` if no key is configured. */
export function keySetOf({
  documents,
}: {
  readonly documents: { readonly keySet: KeySet | undefined };
}): KeySet {
  if (documents.keySet === undefined) throw new ApiError("not_found", "Not found.");
  return documents.keySet;
}
