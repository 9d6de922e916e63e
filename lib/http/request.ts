import { createReadStream } from "node:fs";
import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { fieldErrors, fieldWords } from "./field-words.ts";
import { plainWords } from "./plain-words.ts";
import {
  BODY_LIMIT_BYTES,
  type BytesBody,
  type Input,
  type LargeBody,
  type Principal,
  type RawBody,
  type RequestInfo,
  type Route,
  type ServiceName,
} from "./route.ts";

/** What API Gateway's REST proxy integration hands to a function, as far as it is used. */
export interface ProxyEvent {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly pathParameters: Readonly<Record<string, string | undefined>> | null;
  readonly queryStringParameters: Readonly<Record<string, string | undefined>> | null;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  /** On one machine: the file that holds a large body, and its length in bytes. `body` is null then. */
  readonly bodyFile?: { readonly path: string; readonly bytes: number };
  readonly requestContext?: {
    readonly requestId?: string;
    readonly path?: string;
    /** The caller's address, as the gateway saw it. */
    readonly identity?: { readonly sourceIp?: string };
  };
}

/** Deepest nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 100;

const JSON_TYPES = /^application\/(?:[\w.+-]*\+)?json$/;
const FORM_TYPE = "application/x-www-form-urlencoded";
const NO_PARAMETERS: Readonly<Record<string, string | undefined>> = {};

/** Header names in lower case. API Gateway keeps the case that the client sent. */
export function lowerCaseHeaders(event: ProxyEvent): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Checks every part of a request against its route. Throws `bad_request` naming each fault, `payload_too_large`. */
export function readInput<Params, Query, Body>(
  route: Route<Params, Query, Body>,
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
): Input<Params, Query, Body> {
  const faults: Fault[] = [];
  const [wording, documents] = [WORDS[route.service], route.service === "documents"];
  const params = readPart(route.params, event.pathParameters ?? NO_PARAMETERS, "path", faults, wording);
  // Of a document whose id is none there is nothing to be told.
  if (documents && faults.length > 0) throw new ApiError("not_found", "Not found.");
  const query = readPart(route.query, event.queryStringParameters ?? NO_PARAMETERS, "query", faults, wording);
  const body = readBody(route, event, headers, faults);
  if (faults.length > 0)
    throw new ApiError(
      "bad_request",
      faults.map(toText).join("; "),
      documents ? { body: fieldErrors(faults) } : {},
    );
  const request = requestInfo(event, headers, requestId, principal);
  return { params: params as Params, query: query as Query, body: body as Body, request };
}

/** Who asks for what, whatever else was sent. Throws `not_found` where its path names nothing. */
export function readAsked<Params>(
  route: Pick<Route<Params>, "params">,
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
): { readonly params: Params; readonly request: RequestInfo } {
  const faults: Fault[] = [];
  const params = readPart(route.params, event.pathParameters ?? NO_PARAMETERS, "path", faults, fieldWords);
  if (faults.length > 0) throw new ApiError("not_found", "Not found.");
  return { params: params as Params, request: requestInfo(event, headers, requestId, principal) };
}

const requestInfo = (
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
): RequestInfo => ({
  ...{ requestId, method: event.httpMethod, path: event.path, principal, headers },
  address: () => addressOf(event, headers),
});

/** A body of the documents that its route has read itself. Throws `bad_request` naming each fault. */
export function checkBody<Body>(schema: z.ZodType<Body>, value: unknown): Body {
  const faults: Fault[] = [];
  const body = readPart(schema, value, "body", faults, fieldWords);
  if (faults.length > 0)
    throw new ApiError("bad_request", faults.map(toText).join("; "), { body: fieldErrors(faults) });
  return body as Body;
}

/** Of the request as its caller made it. */
function addressOf(
  { path, requestContext, queryStringParameters }: ProxyEvent,
  headers: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams(
    Object.entries(queryStringParameters ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    ),
  ).toString();
  const origin = `${headers["x-forwarded-proto"] ?? "http"}://${headers.host ?? "localhost"}`;
  // With the stage in front, as the caller has it.
  return `${origin}${requestContext?.path ?? path}${query === "" ? "" : `?${query}`}`;
}

/** What is wrong with a part of a request, and where in it. */
export interface Fault {
  readonly part: "path" | "query" | "body";
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

type Words = z.core.$ZodErrorMap;
/** How each service words its faults. */
const WORDS: Readonly<Record<ServiceName, Words>> = {
  root: plainWords,
  automation: plainWords,
  documents: fieldWords,
};

function toText({ part, path, message }: Fault): string {
  const where = part === "body" ? path : [part, ...path];
  return where.length > 0 ? `${where.join(".")}: ${message}` : message;
}

function readPart(
  schema: z.ZodType | undefined,
  value: unknown,
  part: Fault["part"],
  faults: Fault[],
  error: Words,
): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value, { error });
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues.slice(0, FAULTS_MAX))
    faults.push({ part, path, message });
  return undefined;
}

/** Faults named in one answer. */
const FAULTS_MAX = 10;

function readBody(
  route: Pick<Route, "body" | "bodyKind" | "bodyLimitBytes" | "service">,
  event: ProxyEvent,
  headers: Record<string, string>,
  faults: Fault[],
): unknown {
  if (route.body === undefined) return undefined;
  const limitBytes = route.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  if (route.bodyKind === "bytes") {
    const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
    if (bytes.length > limitBytes) throw tooLarge(limitBytes);
    return { bytes, contentType: headers["content-type"] ?? "" } satisfies BytesBody;
  }
  if (route.bodyKind === "large") {
    checkJsonType(route, contentTypeOf(headers));
    return largeBody(event, limitBytes);
  }
  const text = decodeBody(event, limitBytes);
  const contentType = contentTypeOf(headers);
  if (route.bodyKind === "raw") return { text, contentType } satisfies RawBody;
  checkJsonType(route, contentType);
  // Where every field may be left out, so may all of them.
  const value = route.service === "documents" ? parseFields(text) : parseJson(text);
  return readPart(route.body, value, "body", faults, WORDS[route.service]);
}

const contentTypeOf = (headers: Readonly<Record<string, string>>): string =>
  (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Throws `unsupported_media_type`, or `bad_request` where the service knows no other word for it. */
function checkJsonType({ service }: Pick<Route, "service">, contentType: string): void {
  if (contentType === "" || contentType === FORM_TYPE || JSON_TYPES.test(contentType)) return;
  const shown = contentType.slice(0, 100);
  if (service === "documents")
    throw new ApiError("unsupported_media_type", `Unsupported media type "${shown}" in request.`);
  throw new ApiError("bad_request", `content-type: must be application/json, not ${shown}`);
}

function largeBody({ bodyFile, body, isBase64Encoded }: ProxyEvent, limitBytes: number): LargeBody {
  const whole =
    bodyFile === undefined ? Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8") : undefined;
  const bytes = whole?.length ?? bodyFile?.bytes ?? 0;
  if (bytes > limitBytes) throw tooLarge(limitBytes);
  return { bytes, chunks: bodyFile === undefined ? once(whole) : createReadStream(bodyFile.path) };
}

async function* once(whole: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (whole !== undefined) yield whole;
}

/** The body as text. Throws `payload_too_large`, and `bad_request` for bytes that are not UTF-8. */
function decodeBody(event: ProxyEvent, limitBytes: number): string {
  const raw = event.body ?? "";
  if (!event.isBase64Encoded) {
    if (raw.length > limitBytes || Buffer.byteLength(raw) > limitBytes) throw tooLarge(limitBytes);
    return raw;
  }
  const bytes = Buffer.from(raw, "base64");
  if (bytes.length > limitBytes) throw tooLarge(limitBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError("bad_request", "body: must be UTF-8 text");
  }
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError("payload_too_large", `body: must be at most ${limitBytes} bytes`);
}

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
