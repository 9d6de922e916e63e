import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { textOf } from "./argument-values.ts";
import { chunksOf, outputOf, pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { runCommand } from "./programs.ts";

/** Maximum number of bytes that `cat_file` shows. */
const SHOWN_FILE_BYTES = 64 * 1024;

function runShell([command]: readonly unknown[], context: FunctionContext): string {
  return runCommand(textOf(command), {}, context).trim();
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
  summary:
    "The output of a bash command (up to 10 MiB), without leading and trailing white space; empty if it fails",
  failure: "",
  run: runShell,
};

export const systemFunctions = {
  exec_cmd: shell,
  bash: shell,
  command_exists: {
    group: "utility",
    params: ["command"],
    returns: "boolean",
    summary: "Whether a program is on the step's PATH",
    failure: false,
    run: ([command], context: FunctionContext) => {
      const name = textOf(command);
      if (name === "") return false;
      if (name.includes("/")) return isProgram(resolve(context.cwd, name));
      const folders = (context.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
      return folders.some((folder) => isProgram(join(folder, name)));
    },
  },
  sort_unix: {
    group: "unix_commands",
    params: ["input", "output?"],
    returns: "boolean",
    summary: "Sorts the distinct lines of a file by their bytes, into another file or in place",
    failure: false,
    run: ([input, output], context: FunctionContext) => {
      const from = pathOf(input, context);
      const to = textOf(output) === "" ? from : outputOf(output, context);
      const command = 'LC_ALL=C sort -u -o "$SORT_TO" -- "$SORT_FROM"';
      runCommand(command, { SORT_FROM: from, SORT_TO: to }, context);
      return true;
    },
  },
  cat_file: {
    group: "utility",
    params: ["path"],
    returns: "nothing",
    summary: `Writes the first ${SHOWN_FILE_BYTES / 1024} KiB of a file to the step's log`,
    failure: "",
    run: ([path], context: FunctionContext) => {
      const chunks = [...chunksOf(pathOf(path, context), SHOWN_FILE_BYTES)].map((chunk) =>
        chunk.toString("utf8"),
      );
      context.log("info", chunks.join(""));
    },
  },
} satisfies Record<string, LibraryFunction>;
