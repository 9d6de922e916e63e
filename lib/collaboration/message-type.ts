/** Message types of Hocuspocus that are counted separately. */
export const MESSAGE = {
  sync: 0,
  awareness: 1,
  auth: 2,
  syncReply: 4,
  close: 7,
} as const;

/** Sync messages of y-protocols. */
export const SYNC = { step1: 0, step2: 1, update: 2 } as const;

/** The beginning of a Hocuspocus message. */
export interface MessageHead {
  readonly type: number;
  /** The type of a sync message within it. */
  readonly sync?: number;
  /** The state vector or update of a sync message. */
  readonly payload?: Uint8Array;
}

/** Reads the beginning of a message. Undefined if it is malformed. */
export function readMessageHead(message: Uint8Array): MessageHead | undefined {
  const name = readVarUint(message, 0);
  const type = name && readVarUint(message, name.end + name.value);
  if (type === undefined) return undefined;
  if (type.value !== MESSAGE.sync && type.value !== MESSAGE.syncReply) return { type: type.value };
  const sync = readVarUint(message, type.end);
  const length = sync && readVarUint(message, sync.end);
  if (sync === undefined || length === undefined) return undefined;
  const end = length.end + length.value;
  if (end > message.length) return undefined;
  return { type: type.value, sync: sync.value, payload: message.subarray(length.end, end) };
}

/** Longest encoding of a length, bytes. */
const VAR_UINT_MAX = 5;

function readVarUint(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let at = start; at < start + VAR_UINT_MAX; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
