import { PlatformFault } from "../faults.ts";
import { openedOnce } from "../opened-once.ts";
import type { Scripts } from "../scripts.ts";

/** Where the parts lie that evaluate scripts: `infra/template/bundling.ts` has them built there. */
export interface BundledScripts {
  /** Of `scripts-pool.mjs`, `script-worker.mjs` and `quickjs.wasm`. */
  readonly folder: URL;
  /** Of a module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
}

/**
 * Scripts inside a function of Lambda. What evaluates them is no part of its bundle: it is loaded from beside it
 * with the first script. `run` rejects with PlatformFault `command_not_started` where it is not there.
 */
export function bundledScripts(parts: BundledScripts): Scripts {
  const open = openedOnce(async () => {
    const address = new URL("scripts-pool.mjs", parts.folder).href;
    const { openScripts }: typeof import("./scripts-pool.ts") = await import(address);
    return openScripts(parts);
  });
  return {
    run: async (request) => {
      const scripts = await open().catch((cause: unknown) => {
        const detail = cause instanceof Error ? cause.message : String(cause);
        throw new PlatformFault("command_not_started", `scripts cannot run here: ${detail}`, { cause });
      });
      return scripts.run(request);
    },
  };
}
