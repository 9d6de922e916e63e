import { PlatformFault } from "../faults.ts";
import { openOnce } from "../open-once.ts";
import type { Scripts } from "../scripts.ts";

/** Location of the script engine's parts; `infra/template/bundling.ts` builds them there. */
export interface BundledScripts {
  /** Folder of `scripts-pool.mjs`, `script-worker.mjs` and `quickjs.wasm`. */
  readonly folder: URL;
  /** Module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
}

/**
 * Scripts inside a Lambda function. The engine is not part of the bundle; it is loaded from a folder beside it with the
 * first script. `run` rejects with PlatformFault `command_not_started` if it is missing.
 */
export function bundledScripts(parts: BundledScripts): Scripts {
  const open = openOnce(async () => {
    const address = new URL("scripts-pool.mjs", parts.folder).href;
    const { openScripts }: typeof import("./scripts-pool.ts") = await import(address);
    return openScripts(parts);
  });
  return {
    run: async (request) => {
      const scripts = await open().catch((cause: unknown) => {
        const detail = cause instanceof Error ? cause.message : String(cause);
        throw new PlatformFault("command_not_started", `scripts are not available: ${detail}`, { cause });
      });
      return scripts.run(request);
    },
  };
}
