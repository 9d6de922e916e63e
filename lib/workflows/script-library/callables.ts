import { type FunctionContext, type LibraryFunction, UnreachablePathError } from "./library-types.ts";
import { aliasOf } from "./workspace-functions.ts";

/** A function as the script threads call it. */
export interface Callable {
  readonly prepare?: () => Promise<void>;
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

/** Failures with a failure value are logged as warnings and return it; other errors are thrown in the script. */
function toCallable(name: string, entry: LibraryFunction): Callable {
  const { failure, prepare } = entry;
  const run: Callable["run"] = (args, context) => {
    try {
      return entry.run(args, context);
    } catch (error) {
      if (failure === undefined || isForScript(error, entry)) throw error;
      context.log("warn", `${name}: ${error instanceof Error ? error.message : String(error)}`);
      return failure;
    }
  };
  return prepare === undefined ? { run } : { run, prepare };
}

function isForScript(error: unknown, { unreachableIsMissing }: LibraryFunction): boolean {
  if (unreachableIsMissing === true && error instanceof UnreachablePathError) return false;
  return error instanceof Error && error.name === "ScriptError";
}

/** The spellings of a name. A spelling that JavaScript defines (`parseInt`) keeps its JavaScript meaning. */
export function spellingsOf(name: string): string[] {
  const alias = aliasOf(name);
  return alias === name || Object.hasOwn(globalThis, alias) ? [name] : [name, alias];
}

/** The functions by every spelling. */
export function toCallables(functions: Readonly<Record<string, LibraryFunction>>): Map<string, Callable> {
  return new Map(
    Object.entries(functions).flatMap(([name, entry]) => {
      const made = toCallable(name, entry);
      return spellingsOf(name).map((spelling): [string, Callable] => [spelling, made]);
    }),
  );
}
