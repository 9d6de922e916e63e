/** Functions that access no files and start no commands, so that any evaluator can run them. */
import { childRunFunctions } from "./child-runs.ts";
import { conversionFunctions } from "./conversion.ts";
import { databaseFunctions } from "./database.ts";
import { detectionFunctions } from "./detection.ts";
import { documentFunctions } from "./documents.ts";
import { evaluationFunctions } from "./evaluation.ts";
import { eventFunctions } from "./events.ts";
import { generationFunctions } from "./generation.ts";
import { languageModelFunctions } from "./language-models.ts";
import type { LibraryFunction, Task } from "./library-types.ts";
import { notificationFunctions } from "./notifications.ts";
import { outputFunctions } from "./output.ts";
import { queryFunctions } from "./query.ts";
import { requestFunctions } from "./requests.ts";
import { textFunctions } from "./text.ts";
import { textCuttingFunctions } from "./text-cutting.ts";
import { urlFunctions } from "./urls.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

/** The functions that import records from a text; the others read files. */
const databaseTexts: Readonly<Record<string, LibraryFunction>> = Object.fromEntries(
  Object.entries<LibraryFunction>(databaseFunctions).filter(([name]) => !WORKSPACE_FUNCTIONS.has(name)),
);

export const functionsAnywhere = {
  ...textFunctions,
  ...textCuttingFunctions,
  ...conversionFunctions,
  ...evaluationFunctions,
  ...generationFunctions,
  ...outputFunctions,
  ...queryFunctions,
  ...eventFunctions,
  ...urlFunctions,
  ...detectionFunctions,
  ...requestFunctions,
  ...notificationFunctions,
  ...languageModelFunctions,
  ...childRunFunctions,
  ...databaseTexts,
  ...documentFunctions,
} satisfies Record<string, LibraryFunction>;

/** Asynchronous work of these functions, loaded on first use. */
export const tasksAnywhere: readonly (readonly [string, Task])[] = [
  ["http", async (input, signal) => (await import("./request-tasks.ts")).sendHttp(input, signal)],
  ["resolve", async (input, signal) => (await import("./request-tasks.ts")).resolveHost(input, signal)],
];
