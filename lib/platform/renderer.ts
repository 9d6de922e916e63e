import type { Rendered, Rendering } from "../export/rendering.ts";

export type {
  LinkedDocument,
  Rendered,
  RenderedComment,
  RenderedFormat,
  RenderedImage,
  Rendering,
} from "../export/rendering.ts";

export type RenderingResult =
  | { readonly ok: true; readonly value: Rendered }
  /** `refused`: the document cannot be written in this format. Otherwise it exceeded its time or memory limit. */
  | { readonly ok: false; readonly reason: "refused" | "timeout" | "memory" };

/** The renderer port: writes documents as files in an isolated process. */
export interface Renderer {
  /** Throws PlatformFault `unavailable` if the renderer cannot run, and `throttled` if too many documents wait. */
  render(rendering: Rendering): Promise<RenderingResult>;
}
