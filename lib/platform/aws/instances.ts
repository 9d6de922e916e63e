import { randomUUID } from "node:crypto";
import type { Instances } from "../instances.ts";

/** One of many that nobody counts: whether another is dead shows only when its leases run out. */
export function oneOfManyInstances(): Instances {
  return { id: randomUUID(), isGone: () => false };
}
