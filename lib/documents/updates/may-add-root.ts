import { FRAGMENT } from "./seed.ts";

const NAME = Buffer.from(FRAGMENT);

/** Whether an update may add something to the top level of the content: cheap to know, and seldom true. */
export const mayAddRoot = (update: Uint8Array): boolean =>
  Buffer.from(update.buffer, update.byteOffset, update.byteLength).includes(NAME);
