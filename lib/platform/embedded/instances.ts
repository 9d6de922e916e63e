import { randomUUID } from "node:crypto";
import type { Instances } from "../instances.ts";

/** The one process that holds the data folder: every other owner is one that died. */
export function soleInstance(): Instances {
  const id = randomUUID();
  return { id, isGone: (owner) => owner !== id };
}
