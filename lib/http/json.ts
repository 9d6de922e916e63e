import { ApiError } from "../errors.ts";
import type { Service } from "./service.ts";

/** Deepest nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 100;

/** Parses a JSON body in the way of its service. Throws `bad_request`. */
export function parseBody({ errorFormat, isBodyOptional }: Service, text: string): unknown {
  if (isBodyOptional === true && text.trim() === "") return {};
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof ApiError) || errorFormat.jsonErrorMessage === undefined) throw error;
    throw new ApiError(error.code, errorFormat.jsonErrorMessage(error.message));
  }
}

/** Parses JSON text. Throws `bad_request` for an empty body, malformed JSON and nesting that is too deep. */
function parseJson(text: string): unknown {
  if (text.trim() === "") throw new ApiError("bad_request", "body: must be JSON, but is empty");
  if (text.length > JSON_DEPTH_MAX && jsonDepth(text) > JSON_DEPTH_MAX) {
    throw new ApiError("bad_request", `body: must be nested at most ${JSON_DEPTH_MAX} deep`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "body: must be valid JSON");
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
