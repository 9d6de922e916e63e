import type { Deps } from "./deps.ts";
import { openAwsDeps } from "./deps-aws.ts";

let opened: Promise<Deps> | undefined;

/**
 * What a bundle has for `openDeps` of `deps.ts` where the function reads nothing in the parameter store: the
 * store's client would be a ninth of it.
 */
export function openDeps(): Promise<Deps> {
  opened ??= openAwsDeps(process.env);
  opened.catch(() => {
    opened = undefined;
  });
  return opened;
}
