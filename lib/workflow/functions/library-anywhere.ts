/** Functions that touch no files and start no commands: they work wherever a script is evaluated. */
import { conversionFunctions } from "./conversion.ts";
import { detectionFunctions } from "./detection.ts";
import { evaluationFunctions } from "./evaluation.ts";
import { eventFunctions } from "./events.ts";
import { generationFunctions } from "./generation.ts";
import type { LibraryFunction } from "./library-types.ts";
import { outputFunctions } from "./output.ts";
import { queryFunctions } from "./query.ts";
import { textFunctions } from "./text.ts";
import { textCuttingFunctions } from "./text-cutting.ts";
import { urlFunctions } from "./urls.ts";

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
} satisfies Record<string, LibraryFunction>;
