/** The functions that workflow scripts may call. Seed: workflow 2.7, function steps. */
import { conversionFunctions } from "./conversion.ts";
import { databaseFunctions } from "./database.ts";
import { eventFunctions } from "./events.ts";
import { fileFunctions } from "./files.ts";
import { generationFunctions } from "./generation.ts";
import { type FunctionContext, type LibraryFunction, ScriptError } from "./library-types.ts";
import { aliasOf } from "./names.ts";
import { outputFunctions } from "./output.ts";
import { queryFunctions } from "./query.ts";
import { systemFunctions } from "./system.ts";
import { textFunctions } from "./text.ts";

/** Every function by its own name. */
export const functions = {
  ...fileFunctions,
  ...textFunctions,
  ...conversionFunctions,
  ...generationFunctions,
  ...outputFunctions,
  ...queryFunctions,
  ...eventFunctions,
  ...systemFunctions,
  ...databaseFunctions,
} satisfies Record<string, LibraryFunction>;

export type FunctionName = keyof typeof functions;

export interface Callable {
  readonly prepare?: () => Promise<void>;
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

function callable(name: string, entry: LibraryFunction): Callable {
  const { failure, prepare } = entry;
  const run: Callable["run"] = (args, context) => {
    try {
      return entry.run(args, context);
    } catch (error) {
      if (failure === undefined || error instanceof ScriptError) throw error;
      context.log("warn", `${name}: ${error instanceof Error ? error.message : String(error)}`);
      return failure;
    }
  };
  return prepare === undefined ? { run } : { run, prepare };
}

/**
 * What the runner calls, by every spelling: quiet failures become values and warnings here. A spelling that is
 * JavaScript's own (`parseInt`) stays JavaScript's.
 */
export const callables: ReadonlyMap<string, Callable> = new Map(
  Object.entries<LibraryFunction>(functions).flatMap(([name, entry]) => {
    const made = callable(name, entry);
    const alias = aliasOf(name);
    const spellings = Object.hasOwn(globalThis, alias) ? [name] : [name, alias];
    return spellings.map((spelling): [string, Callable] => [spelling, made]);
  }),
);
