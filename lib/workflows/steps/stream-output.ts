import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { StepFailed } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/text.ts";
import type { Step } from "../schema/types.ts";
import { STREAM_EXPORT } from "../values/needed-names.ts";
import { openValue } from "../values/stored-values.ts";
import { pathIn } from "./bash.ts";
import type { Attempt, Scope } from "./context.ts";
import type { StepWork } from "./messages.ts";

/**
 * Writes the outputs of the items of a foreach, a line each and in their order, to the file that it names, batch by
 * batch: as many as there are, flat in memory. `names` are the values that hold them. Throws StepFailed.
 */
export async function streamOutput(
  attempt: Attempt,
  scope: Scope,
  step: Step,
  { values }: StepWork,
  names: readonly string[],
): Promise<void> {
  const source = step.type === "foreach" ? step.exports[STREAM_EXPORT] : undefined;
  if (source === undefined) return;
  const path = pathIn(attempt, renderText(parseTemplate(source, scope), scope.values));
  let file: FileHandle | undefined;
  try {
    await mkdir(dirname(path), { recursive: true });
    file = await open(path, "w");
    for (const name of names) {
      const kept = values[name];
      const text = kept === undefined ? "" : String((await openValue(attempt.deps, kept)) ?? "");
      if (text !== "") await file.write(`${text}\n`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new StepFailed(`${STREAM_EXPORT}: ${path} could not be written: ${code}`, { cause: error });
  } finally {
    await file?.close();
  }
}
