import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { numberOf, textOf } from "./values.ts";

const LONGEST_SLEEP_SECONDS = 3_600;

function runShell([command]: readonly unknown[], context: FunctionContext): string {
  const { failure, stdout } = context.exec(textOf(command));
  if (failure !== undefined) throw new Error(failure);
  return stdout.trim();
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const shell: LibraryFunction = {
  group: "utility",
  params: ["command"],
  returns: "string",
  summary: "What a bash command writes (up to 10 MiB), without white space at its ends; empty when it fails",
  failure: "",
  run: runShell,
};

export const systemFunctions = {
  exec_cmd: shell,
  bash: shell,
  sleep: {
    group: "utility",
    params: ["seconds"],
    returns: "nothing",
    summary: "Waits so many seconds, at most an hour and not longer than the step may run",
    run: ([seconds], context: FunctionContext) => {
      const wanted = Math.min(Math.max(0, numberOf(seconds, 0)), LONGEST_SLEEP_SECONDS);
      context.sleep(wanted * 1000);
    },
  },
  command_exists: {
    group: "utility",
    params: ["command"],
    returns: "boolean",
    summary: "Whether a program of this name is on the step's PATH",
    failure: false,
    run: ([command], context: FunctionContext) => {
      const name = textOf(command);
      if (name === "") return false;
      if (name.includes("/")) return isProgram(pathOf(name, context));
      const folders = (context.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
      return folders.some((folder) => isProgram(join(folder, name)));
    },
  },
  os_getenv: {
    group: "environment",
    params: ["name"],
    returns: "string",
    summary: "A variable of the step's environment; empty when it is not set",
    run: ([name], context: FunctionContext) => {
      const key = textOf(name);
      return Object.hasOwn(context.env, key) ? context.env[key] : "";
    },
  },
  sort_unix: {
    group: "unix_commands",
    params: ["input", "output?"],
    returns: "boolean",
    summary: "Sorts a file's lines by their bytes, each once, into another file or in place",
    failure: false,
    run: ([input, output], context: FunctionContext) => {
      const from = pathOf(input, context);
      const to = textOf(output) === "" ? from : pathOf(output, context);
      const command = 'LC_ALL=C sort -u -o "$SORT_TO" -- "$SORT_FROM"';
      const { failure } = context.exec(command, { SORT_FROM: from, SORT_TO: to });
      if (failure !== undefined) throw new Error(failure);
      return true;
    },
  },
  is_url: {
    group: "type_detection",
    params: ["text"],
    returns: "boolean",
    summary: "Whether it is an http or https address",
    run: ([text]) => /^https?:\/\//i.test(textOf(text)) && URL.canParse(textOf(text)),
  },
} satisfies Record<string, LibraryFunction>;
