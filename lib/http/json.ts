import { ApiError } from "../errors.ts";

/** Deepest nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 100;

/**
 * Parses a body of the documents: where there is none, all of its fields are missing. Throws `bad_request`. Reference:
 * documents 1.0.
 */
export function parseFields(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `JSON parse error - ${error.message.replace("body: ", "the body ")}`);
  }
}

/** Parses JSON text. Throws `bad_request` for an empty body, malformed JSON and nesting that is too deep. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") throw new ApiError("bad_request", "body: must be JSON, it is empty");
  if (text.length > JSON_DEPTH_MAX && jsonDepth(text) > JSON_DEPTH_MAX) {
    throw new ApiError("bad_request", `body: must be nested at most ${JSON_DEPTH_MAX} deep`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "body: must be JSON, it does not parse");
  }
}

function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return deepest;
}
