/** The library where no run's workspace is, as in Lambda: a bundle of its own, with `jq.wasm` beside it. */
import { callables as all, type Callable } from "./library.ts";
import { ScriptError } from "./library-types.ts";
import { aliasOf } from "./names.ts";
import { prepareJq } from "./query.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

const REFUSED = new Set([...WORKSPACE_FUNCTIONS].flatMap((name) => [name, aliasOf(name)]));
const JQ_WASM = new URL("jq.wasm", import.meta.url);

/** Says so instead of touching files that no other step of the run would find. */
function refused(name: string): Callable {
  return {
    run: () => {
      throw new ScriptError(`${name} needs a worker: it touches files or starts commands`);
    },
  };
}

/** What the threads call, by every spelling. */
export const callables: ReadonlyMap<string, Callable> = new Map(
  [...all].map(([name, callable]): [string, Callable] => {
    if (REFUSED.has(name)) return [name, refused(name)];
    return [name, name === "jq" ? { ...callable, prepare: () => prepareJq(JQ_WASM) } : callable];
  }),
);
