import type { Conversion, Converter } from "../../converter.ts";
import type { Log } from "../../log.ts";
import { taskProcess } from "./task-process.ts";

const CONVERSION_LIMIT_MS = 10_000;
const HEAP_MB = 512;

export interface ConverterOptions {
  readonly log: Log;
  /** Whether the process loads the editor's writers and columns. Default: no. */
  readonly withEditorWriters?: boolean;
  /** Overrides of the limits, in milliseconds. */
  readonly conversionLimitMs?: number;
  readonly idleMs?: number;
  /** The program; default: the converter. */
  readonly program?: URL;
}

export interface ConverterProcess extends Converter {
  /** 0 before the first conversion, and while no process runs. */
  readonly pid: number;
  /** Ends the process; pending conversions are rejected. */
  close(): Promise<void>;
}

/** Runs conversions in a separate process, one at a time. */
export function converterProcess(options: ConverterOptions): ConverterProcess {
  const process = taskProcess<Conversion, string | Uint8Array>({
    name: "converter",
    log: options.log,
    program: options.program ?? new URL("./main.ts", import.meta.url),
    limitMs: options.conversionLimitMs ?? CONVERSION_LIMIT_MS,
    heapMb: HEAP_MB,
    ...(options.withEditorWriters === true
      ? { env: { PUBLISH_AS_MIT: "false", NODE_ENV: "production" } }
      : {}),
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
  return {
    get pid() {
      return process.pid;
    },
    convert: (conversion) => process.run(conversion),
    close: () => process.close(),
  };
}
