import { createReadStream } from "node:fs";
import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { type Fault, MANNERS } from "./manners.ts";
import {
  BODY_LIMIT_BYTES,
  type BytesBody,
  type Input,
  type LargeBody,
  type Principal,
  type RawBody,
  type RequestInfo,
  type Route,
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
  /** On one machine, of a route that takes large bodies: one that fits into memory, as it came. `body` is null then. */
  readonly bodyParts?: readonly Uint8Array[];
  readonly requestContext?: {
    readonly requestId?: string;
    readonly path?: string;
    /** The caller's address, as the gateway saw it. */
    readonly identity?: { readonly sourceIp?: string };
  };
}

const JSON_TYPES = /^application\/(?:[\w.+-]*\+)?json$/;
const FORM_TYPE = "application/x-www-form-urlencoded";
const TYPE_SHOWN_MAX = 100;
const NO_PARAMETERS: Readonly<Record<string, string | undefined>> = {};

/** Header names in lower case. API Gateway keeps the case that the client sent. */
export function lowerCaseHeaders(event: ProxyEvent): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  const sent = event.headers ?? {};
  for (const name of Object.keys(sent)) {
    const value = sent[name];
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
  publicUrl?: string,
): Input<Params, Query, Body> {
  const faults: Fault[] = [];
  const { words, refusalOf, refusalOfPath } = MANNERS[route.service];
  const params = readPart(route.params, event.pathParameters ?? NO_PARAMETERS, "path", faults, words);
  if (faults.length > 0 && refusalOfPath !== undefined) throw refusalOfPath();
  const query = readPart(route.query, event.queryStringParameters ?? NO_PARAMETERS, "query", faults, words);
  const body = readBody(route, event, headers, faults);
  if (faults.length > 0) throw refusalOf(faults);
  const request = requestInfo(event, headers, requestId, principal, publicUrl);
  return { params: params as Params, query: query as Query, body: body as Body, request };
}

/** Who asks for what, whatever else was sent. Throws `not_found` where its path names nothing. */
export function readAsked<Params>(
  route: Pick<Route<Params>, "params" | "service">,
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
  publicUrl?: string,
): { readonly params: Params; readonly request: RequestInfo } {
  const faults: Fault[] = [];
  const { words, refusalOf, refusalOfPath } = MANNERS[route.service];
  const params = readPart(route.params, event.pathParameters ?? NO_PARAMETERS, "path", faults, words);
  if (faults.length > 0) throw refusalOfPath?.() ?? refusalOf(faults);
  return {
    params: params as Params,
    request: requestInfo(event, headers, requestId, principal, publicUrl),
  };
}

const requestInfo = (
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
  publicUrl: string | undefined,
): RequestInfo => ({
  ...{ requestId, method: event.httpMethod, path: event.path, principal, headers },
  address: () => addressOf(event, headers, publicUrl),
});

/** A body of the documents that its route has read itself. Throws `bad_request` naming each fault. */
export function checkBody<Body>(schema: z.ZodType<Body>, value: unknown): Body {
  const faults: Fault[] = [];
  const { words, refusalOf } = MANNERS.documents;
  const body = readPart(schema, value, "body", faults, words);
  if (faults.length > 0) throw refusalOf(faults);
  return body as Body;
}

/** A host as it may be in an address: a name or a number, and its port. */
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The address of the request: below `publicUrl`, or else at the host that the gateway accepted. Headers of proxies
 * other than the scheme that API Gateway sets are ignored.
 */
function addressOf(
  { path, requestContext, queryStringParameters }: ProxyEvent,
  headers: Readonly<Record<string, string>>,
  publicUrl: string | undefined,
): string {
  const query = new URLSearchParams(
    Object.entries(queryStringParameters ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    ),
  ).toString();
  const suffix = query === "" ? "" : `?${query}`;
  if (publicUrl !== undefined) return `${publicUrl}${path}${suffix}`;
  const scheme = headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const { host = "" } = headers;
  const origin = `${scheme}://${HOST.test(host) && URL.canParse(`${scheme}://${host}`) ? host : "localhost"}`;
  // With the stage in front, as the caller has it.
  return `${origin}${requestContext?.path ?? path}${suffix}`;
}

function readPart(
  schema: z.ZodType | undefined,
  value: unknown,
  part: Fault["part"],
  faults: Fault[],
  error: z.core.$ZodErrorMap,
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
  checkEncoding(headers);
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
  const { readJson, words } = MANNERS[route.service];
  return readPart(route.body, readJson(text), "body", faults, words);
}

const contentTypeOf = (headers: Readonly<Record<string, string>>): string =>
  (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Throws `unsupported_media_type` for a compressed body. */
function checkEncoding(headers: Readonly<Record<string, string>>): void {
  const encoding = (headers["content-encoding"] ?? "").trim();
  if (encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new ApiError(
    "unsupported_media_type",
    `content-encoding: ${encoding.slice(0, TYPE_SHOWN_MAX)} is not supported, send the body uncompressed`,
  );
}

/** Throws `unsupported_media_type`, or `bad_request` where the service knows no other word for it. */
function checkJsonType({ service }: Pick<Route, "service">, contentType: string): void {
  if (contentType === "" || contentType === FORM_TYPE || JSON_TYPES.test(contentType)) return;
  throw MANNERS[service].refusalOfType(contentType.slice(0, TYPE_SHOWN_MAX));
}

function largeBody(
  { bodyFile, bodyParts, body, isBase64Encoded }: ProxyEvent,
  limitBytes: number,
): LargeBody {
  const parts = bodyParts ?? [Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8")];
  const bytes = bodyFile?.bytes ?? parts.reduce((sum, { length }) => sum + length, 0);
  if (bytes > limitBytes) throw tooLarge(limitBytes);
  return { bytes, chunks: bodyFile === undefined ? inTurn(parts) : createReadStream(bodyFile.path) };
}

async function* inTurn(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
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
