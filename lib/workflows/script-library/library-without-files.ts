/**
 * The library for environments without the run's workspace, such as Lambda: a separate bundle, with `jq.wasm` beside
 * it.
 */
import { type Callable, spellingsOf, toCallables } from "./callables.ts";
import { functionsAnywhere, tasksAnywhere } from "./library-anywhere.ts";
import { ScriptError, type Task } from "./library-types.ts";
import { prepareJq } from "./query.ts";
import { unavailableFunctions } from "./unavailable.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

const JQ_WASM = new URL("jq.wasm", import.meta.url);

/** Rejects the call, because other steps of the run could not read its files. */
function refused(name: string): Callable {
  return {
    run: () => {
      throw new ScriptError(`${name} requires a worker, because it uses files or commands`);
    },
  };
}

/** The functions that the threads call, by every spelling. */
export const callables: ReadonlyMap<string, Callable> = new Map([
  ...toCallables({
    ...functionsAnywhere,
    ...unavailableFunctions,
    jq: { ...functionsAnywhere.jq, prepare: () => prepareJq(JQ_WASM) },
  }),
  ...[...WORKSPACE_FUNCTIONS]
    .flatMap(spellingsOf)
    .map((spelling): [string, Callable] => [spelling, refused(spelling)]),
]);

export const tasks: ReadonlyMap<string, Task> = new Map(tasksAnywhere);
