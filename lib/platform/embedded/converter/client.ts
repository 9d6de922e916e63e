import { CONVERSION_SECONDS } from "../../conversions.ts";
import type { Conversion, Converter } from "../../converter.ts";
import { type TaskLimits, type TaskProcess, taskProcess } from "../task-process/task-process.ts";

const CONVERSION_LIMIT_MS = 10_000;
/** Of imports and exports, which are large: as for the function on AWS. */
const BACKGROUND_LIMIT_MS = CONVERSION_SECONDS * 1_000;
const HEAP_MB = 512;

export interface ConverterOptions extends TaskLimits {
  /** Whether the process loads the editor's writers and columns. Default: no. */
  readonly withEditorWriters?: boolean;
  /** The program; default: the converter. */
  readonly program?: URL;
}

export type ConverterProcess = Converter & TaskProcess<Conversion, string | Uint8Array>;

/**
 * Runs conversions in two processes, of which one is for imports and exports: other conversions do not wait for them. Its
 * priority is not lower, because a conversion has a time limit, which it would exceed while steps use all of the CPU.
 */
export function converters(options: ConverterOptions): Converter & Pick<ConverterProcess, "close"> {
  const own = converterProcess(options);
  const background = converterProcess({ limitMs: BACKGROUND_LIMIT_MS, ...options });
  return {
    convert: (conversion, { isBackground = false } = {}) => (isBackground ? background : own).run(conversion),
    close: async () => {
      await Promise.all([own.close(), background.close()]);
    },
  };
}

/** Runs conversions in a separate process. */
export function converterProcess({ withEditorWriters, ...options }: ConverterOptions): ConverterProcess {
  const process = taskProcess<Conversion, string | Uint8Array>({
    name: "converter",
    program: new URL("./main.ts", import.meta.url),
    limitMs: CONVERSION_LIMIT_MS,
    heapMb: HEAP_MB,
    ...(withEditorWriters === true ? { env: { PUBLISH_AS_MIT: "false", NODE_ENV: "production" } } : {}),
    ...options,
  });
  return Object.assign(process, { convert: process.run });
}
