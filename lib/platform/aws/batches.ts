/** The limits of one request. */
export interface BatchLimits {
  readonly count: number;
  readonly bytes: number;
}

export interface SizedEntry {
  readonly bytes: number;
  /** A batch contains at most one entry with the same value; undefined is never in conflict. */
  readonly uniqueKey?: string | undefined;
}

/** Splits a list, in order, into batches that fit into one request each. */
export function toBatches<Entry extends SizedEntry>(
  entries: readonly Entry[],
  limits: BatchLimits,
): Entry[][] {
  const batches: Entry[][] = [];
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const twice =
      entry.uniqueKey !== undefined && batch.some(({ uniqueKey }) => uniqueKey === entry.uniqueKey);
    if (batch.length > 0 && (batch.length === limits.count || bytes + entry.bytes > limits.bytes || twice)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.bytes;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** Splits a list into chunks of at most `count` entries. */
export function toChunks<Entry>(entries: readonly Entry[], count: number): Entry[][] {
  const chunks: Entry[][] = [];
  for (let start = 0; start < entries.length; start += count)
    chunks.push(entries.slice(start, start + count));
  return chunks;
}
