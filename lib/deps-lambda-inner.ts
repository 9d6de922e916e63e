import type { Deps } from "./deps.ts";
import { openAwsDeps } from "./deps-aws.ts";
import { checked } from "./deps-checked.ts";
import { composeDeps } from "./deps-compose.ts";
import { openedOnce } from "./platform/opened-once.ts";

/**
 * What a bundle has for `openDeps` of `deps.ts` where the function reads nothing in the parameter store: the
 * store's client would be a ninth of it.
 */
export const openDeps: () => Promise<Deps> = openedOnce(() =>
  openAwsDeps(process.env, composeDeps).then(checked),
);
