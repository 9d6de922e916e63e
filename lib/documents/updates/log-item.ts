import type { Ports } from "../../platform/ports.ts";
import { type StoredUpdates, updateBlob } from "../tables/updates.ts";

/** Maximum size of the updates in an item, bytes. An item is limited to 400 KiB. A larger update is a blob. */
export const ITEM_MAX_BYTES = 256 * 1024;

/** Who appended updates, and when. */
type Appended = Pick<StoredUpdates, "authors" | "at">;

/** Composes the item of updates that are appended together: several small ones, or one of any size. */
export async function composeLogItem(
  { blobs, ids }: Pick<Ports, "blobs" | "ids">,
  document: string,
  updates: readonly Uint8Array[],
  { authors, at }: Appended,
): Promise<Omit<StoredUpdates, "pk" | "sk">> {
  const bytes = updates.reduce((sum, update) => sum + update.length, 0);
  if (bytes <= ITEM_MAX_BYTES) return { updates, bytes, authors, at };
  const blob = updateBlob(document, ids.ordered());
  await blobs.put(blob, updates[0] ?? new Uint8Array());
  return { updates: [], blob, bytes, authors, at };
}
