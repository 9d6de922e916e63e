import type { Rendered, Renderer, Rendering } from "../../renderer.ts";
import { type TaskLimits, type TaskProcess, taskProcess } from "../task-process/task-process.ts";

/** A document with many images takes seconds. */
const RENDERING_LIMIT_MS = 30_000;
const HEAP_MB = 768;

export type RendererProcess = Renderer & TaskProcess<Rendering, Rendered>;

/** Writes documents as files in a separate process. */
export function rendererProcess(options: TaskLimits): RendererProcess {
  const process = taskProcess<Rendering, Rendered>({
    name: "renderer",
    program: new URL("./main.ts", import.meta.url),
    limitMs: RENDERING_LIMIT_MS,
    heapMb: HEAP_MB,
    isBackground: true,
    ...options,
  });
  return Object.assign(process, { render: process.run });
}
