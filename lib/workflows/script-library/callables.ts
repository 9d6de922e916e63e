import { type FunctionContext, type LibraryFunction, UnreachablePathError } from "./library-types.ts";
import { aliasOf } from "./workspace-functions.ts";

/** A function as the threads call it. */
export interface Callable {
  readonly prepare?: () => Promise<void>;
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

/** Quiet failures become values and warnings; what a script must see stays an error. */
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

/** The spellings of a name. One that is JavaScript's own (`parseInt`) stays JavaScript's. */
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
