/** The functions that workflow scripts may call. Seed: workflow 2.7, function steps. */
import { archiveFunctions } from "./archives.ts";
import { toCallables } from "./callables.ts";
import { csvFunctions } from "./csv.ts";
import { databaseFunctions } from "./database.ts";
import { fileKindFunctions } from "./file-kinds.ts";
import { fileLineFunctions } from "./file-lines.ts";
import { fileSourceFunctions } from "./file-sources.ts";
import { fileTreeFunctions } from "./file-trees.ts";
import { fileFunctions } from "./files.ts";
import { hostFunctions } from "./hosts.ts";
import { functionsAnywhere, tasksAnywhere } from "./library-anywhere.ts";
import type { LibraryFunction, Task } from "./library-types.ts";
import { markdownFunctions } from "./markdown.ts";
import { nmapFunctions } from "./nmap.ts";
import { programFunctions } from "./programs.ts";
import { recordFunctions } from "./records.ts";
import { snapshotFunctions } from "./snapshots.ts";
import { systemFunctions } from "./system.ts";
import { unavailableFunctions } from "./unavailable.ts";
import { urlFileFunctions } from "./url-files.ts";

/** The available functions, by group. */
const availableFunctions = {
  ...fileFunctions,
  ...fileLineFunctions,
  ...fileTreeFunctions,
  ...fileKindFunctions,
  ...fileSourceFunctions,
  ...functionsAnywhere,
  ...systemFunctions,
  ...programFunctions,
  ...archiveFunctions,
  ...recordFunctions,
  ...csvFunctions,
  ...nmapFunctions,
  ...urlFileFunctions,
  ...markdownFunctions,
  ...databaseFunctions,
  ...hostFunctions,
  ...snapshotFunctions,
} satisfies Record<string, LibraryFunction>;

export type FunctionName = keyof typeof availableFunctions;

/** Every function by its own name. */
export const functions: Readonly<Record<string, LibraryFunction>> = {
  ...availableFunctions,
  ...unavailableFunctions,
};

/** The functions that the runner calls, by every spelling. */
export const callables = toCallables(functions);

/** Asynchronous work of functions, loaded on first use. */
export const tasks: ReadonlyMap<string, Task> = new Map<string, Task>([
  ...tasksAnywhere,
  ["zip", async (input, signal) => (await import("./zip-tasks.ts")).zip(input, signal)],
  ["unzip", async (input, signal) => (await import("./zip-tasks.ts")).unzip(input, signal)],
]);
