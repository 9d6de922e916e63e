import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { fieldErrors, fieldWords } from "./field-words.ts";
import { parseFields, parseJson } from "./json.ts";
import { plainWords } from "./plain-words.ts";
import type { ServiceName } from "./route.ts";

/** What is wrong with a part of a request, and where in it. */
export interface Fault {
  readonly part: "path" | "query" | "body";
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** How a service speaks with clients whose requests are not as they should be. */
export interface Manners {
  readonly words: z.core.$ZodErrorMap;
  /** To who comes without a token where one is needed. */
  readonly missingToken: string;
  /** What its answers may load where a browser shows them. */
  readonly policy?: string;
  /** A body's value. Throws `bad_request`. */
  readJson(text: string): unknown;
  errorBody(error: ApiError): unknown;
  /** Where a fault of the path is all that is told. */
  refusalOfPath?(): ApiError;
  /** The refusal of a request with these faults. */
  refusalOf(faults: readonly Fault[]): ApiError;
  refusalOfType(shown: string): ApiError;
}

const refusal = (faults: readonly Fault[], body?: unknown): ApiError =>
  new ApiError("bad_request", faults.map(toText).join("; "), body === undefined ? {} : { body });

function toText({ part, path, message }: Fault): string {
  const where = part === "body" ? path : [part, ...path];
  return where.length > 0 ? `${where.join(".")}: ${message}` : message;
}

/** Seed: workflow 2.1. */
const plain: Manners = {
  words: plainWords,
  missingToken: "Missing authorization header",
  readJson: parseJson,
  errorBody: ({ message }) => ({ error: true, message }),
  refusalOf: (faults) => refusal(faults),
  refusalOfType: (shown) =>
    new ApiError("bad_request", `content-type: must be application/json, not ${shown}`),
};

const NOTHING = [
  ...["base-uri", "child-src", "connect-src", "default-src", "font-src", "form-action", "frame-ancestors"],
  ...["frame-src", "img-src", "manifest-src", "media-src", "object-src", "prefetch-src", "script-src"],
  ...["style-src", "worker-src"],
]
  .map((directive) => `${directive} 'none'`)
  .join("; ");

/** Reference: documents 1.0. */
const byField: Manners = {
  words: fieldWords,
  missingToken: "Authentication credentials were not provided.",
  policy: NOTHING,
  readJson: parseFields,
  errorBody: ({ message }) => ({ detail: message }),
  // Of a document whose id is none there is nothing to be told.
  refusalOfPath: () => new ApiError("not_found", "Not found."),
  refusalOf: (faults) => refusal(faults, fieldErrors(faults)),
  refusalOfType: (shown) =>
    new ApiError("unsupported_media_type", `Unsupported media type "${shown}" in request.`),
};

export const MANNERS: Readonly<Record<ServiceName, Manners>> = {
  root: plain,
  automation: plain,
  documents: byField,
};
