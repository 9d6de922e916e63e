/** The library where no run's workspace is, as in Lambda: a bundle of its own, with `jq.wasm` beside it. */
import { type Callable, spellingsOf, toCallables } from "./callables.ts";
import { functionsAnywhere, tasksAnywhere } from "./library-anywhere.ts";
import { ScriptError, type Task } from "./library-types.ts";
import { prepareJq } from "./query.ts";
import { unavailableFunctions } from "./unavailable.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

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
