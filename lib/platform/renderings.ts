/** Key prefix of a rendering's input and output: a Lambda payload is limited to 6 MB. Leftovers expire after a day. */
export const RENDERINGS_PREFIX = "renderings/";
export const RENDERINGS_DAYS = 1;
/** Timeout of one rendering, including the start of its function. */
export const RENDERING_SECONDS = 40;

export interface RenderingRequest {
  /** Identifies the blobs. */
  readonly id: string;
}

/** The function's response. If it is `ok`, the output blob exists. */
export type RenderingResponse =
  | { readonly ok: true; readonly issues: readonly string[] }
  | { readonly ok: false };

/** Blob of a Rendering, in the format of `v8.serialize`. */
export const renderingBlob = (id: string): string => `${RENDERINGS_PREFIX}${id}/given`;
/** Blob of the file. */
export const renderedBlob = (id: string): string => `${RENDERINGS_PREFIX}${id}/made`;

/** Name of the renderer function in a stack. */
export const rendererName = (stack: string): string => `${stack}-renderer`;
