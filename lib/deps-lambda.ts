import type { Deps } from "./deps.ts";
import { openStoredAwsDeps } from "./deps-aws-stored.ts";
import { checked } from "./deps-checked.ts";
import { composeDeps } from "./deps-compose.ts";
import { openedOnce } from "./platform/opened-once.ts";

/**
 * What a bundle has for `openDeps` of `deps.ts` (the template's build says so). It is the same but for
 * `import()`, which would keep esbuild from leaving out what a function does not use of AWS's SDK.
 */
export const openDeps: () => Promise<Deps> = openedOnce(() =>
  openStoredAwsDeps(process.env, composeDeps).then(checked),
);
