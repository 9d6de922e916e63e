import type { Log } from "../../log.ts";
import type { Rendered, Renderer, Rendering } from "../../renderer.ts";
import { taskProcess } from "../converter/task-process.ts";

/** A document with many images takes seconds. */
const RENDERING_LIMIT_MS = 30_000;
const HEAP_MB = 768;

export interface RendererOptions {
  readonly log: Log;
  /** Overrides of the limits, in milliseconds. */
  readonly renderingLimitMs?: number;
  readonly idleMs?: number;
}

export interface RendererProcess extends Renderer {
  /** 0 before the first document, and while no process runs. */
  readonly pid: number;
  /** Ends the process; pending documents are rejected. */
  close(): Promise<void>;
}

/** Writes documents as files in a separate process, one at a time. */
export function rendererProcess(options: RendererOptions): RendererProcess {
  const process = taskProcess<Rendering, Rendered>({
    name: "renderer",
    log: options.log,
    program: new URL("./main.ts", import.meta.url),
    limitMs: options.renderingLimitMs ?? RENDERING_LIMIT_MS,
    heapMb: HEAP_MB,
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
  return {
    get pid() {
      return process.pid;
    },
    render: (rendering) => process.run(rendering),
    close: () => process.close(),
  };
}
