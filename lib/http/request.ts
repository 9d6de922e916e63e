import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { parseBody } from "./json.ts";
import { requestOrigin } from "./request-origin.ts";
import {
  BODY_LIMIT_BYTES,
  type BytesBody,
  type Input,
  type LargeBody,
  type MultipartBody,
  type Principal,
  type RawBody,
  type RequestInfo,
  type Route,
} from "./route.ts";
import type { ErrorFormat, Service, ValidationIssue } from "./service.ts";

/** The event of API Gateway's REST proxy integration (payload version 1.0), as far as it is used. */
export interface ProxyEvent {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly pathParameters: Readonly<Record<string, string | undefined>> | null;
  readonly queryStringParameters: Readonly<Record<string, string | undefined>> | null;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  /** Set by the local gateway: the file that contains a large body, and its length in bytes. `body` is null then. */
  readonly bodyFile?: { readonly path: string; readonly bytes: number };
  /** Set by the local gateway for routes with large bodies: a body that fits into memory, in chunks. `body` is null then. */
  readonly bodyParts?: readonly Uint8Array[];
  /** Set by the local gateway for forms: a large body that is still being received. `body` is null then. */
  readonly bodyStream?: LargeBody;
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

/** What a request is checked against and made from, besides its route. */
export interface RequestContext {
  readonly event: ProxyEvent;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly principal: Principal | undefined;
  readonly receivedAt: number;
  readonly publicUrl: string | undefined;
}

/**
 * Validates every part of a request against its route. Throws `bad_request` naming each issue, `payload_too_large`,
 * `unsupported_media_type`.
 */
export function readInput<Params, Query, Body>(
  route: Route<Params, Query, Body>,
  context: RequestContext,
): Input<Params, Query, Body> {
  const issues: ValidationIssue[] = [];
  const { event, headers } = context;
  const { errorFormat } = route.service;
  const params = readPart(route.params, event.pathParameters ?? NO_PARAMETERS, "path", issues, errorFormat);
  if (issues.length > 0 && errorFormat.invalidPathError !== undefined) throw errorFormat.invalidPathError();
  const query = readPart(
    route.query,
    event.queryStringParameters ?? NO_PARAMETERS,
    "query",
    issues,
    errorFormat,
  );
  const body = readBody(route, event, headers, issues);
  if (issues.length > 0) throw errorFormat.validationError(issues);
  return {
    params: params as Params,
    query: query as Query,
    body: body as Body,
    request: requestInfo(context),
  };
}

/** Validates the path of a request alone. Throws `not_found` or `bad_request` for invalid parameters. */
export function readParams<Params>(
  { params: schema, service: { errorFormat } }: Pick<Route<Params>, "params" | "service">,
  context: RequestContext,
): { readonly params: Params; readonly request: RequestInfo } {
  const issues: ValidationIssue[] = [];
  const sent = context.event.pathParameters ?? NO_PARAMETERS;
  const params = readPart(schema, sent, "path", issues, errorFormat);
  if (issues.length > 0) throw errorFormat.invalidPathError?.() ?? errorFormat.validationError(issues);
  return { params: params as Params, request: requestInfo(context) };
}

const requestInfo = ({
  event,
  headers,
  requestId,
  principal,
  receivedAt,
  publicUrl,
}: RequestContext): RequestInfo => ({
  requestId,
  method: event.httpMethod,
  path: event.path,
  principal,
  receivedAt,
  headers,
  clientAddress: event.requestContext?.identity?.sourceIp ?? "",
  address: () => addressOf(event, headers, publicUrl),
});

/** Validates a body that its route has read itself. Throws `bad_request` naming each issue. */
export function checkBody<Body>({ errorFormat }: Service, schema: z.ZodType<Body>, value: unknown): Body {
  const issues: ValidationIssue[] = [];
  const body = readPart(schema, value, "body", issues, errorFormat);
  if (issues.length > 0) throw errorFormat.validationError(issues);
  return body as Body;
}

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
  // API Gateway's stage, which clients send, is only in the context's path.
  return `${requestOrigin(headers)}${requestContext?.path ?? path}${suffix}`;
}

function readPart(
  schema: z.ZodType | undefined,
  value: unknown,
  part: ValidationIssue["part"],
  issues: ValidationIssue[],
  { issueMessage }: ErrorFormat,
): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value, { error: issueMessage });
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues.slice(0, ISSUES_MAX))
    issues.push({ part, path, message });
  return undefined;
}

/** Issues reported in one response. */
const ISSUES_MAX = 10;

function readBody(
  route: Pick<Route, "body" | "bodyKind" | "bodyLimitBytes" | "service">,
  event: ProxyEvent,
  headers: Record<string, string>,
  issues: ValidationIssue[],
): unknown {
  if (route.body === undefined) return undefined;
  checkEncoding(headers);
  const limitBytes = route.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  if (route.bodyKind === "bytes") {
    if (isApart(event)) throw tooLarge(limitBytes);
    const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
    if (bytes.length > limitBytes) throw tooLarge(limitBytes);
    return { bytes, contentType: headers["content-type"] ?? "" } satisfies BytesBody;
  }
  if (route.bodyKind === "large") {
    checkJsonType(route, contentTypeOf(headers));
    return largeBody(event, limitBytes);
  }
  if (route.bodyKind === "multipart") {
    checkFormType(route, contentTypeOf(headers));
    const contentType = headers["content-type"] ?? "";
    return { ...largeBody(event, limitBytes), contentType } satisfies MultipartBody;
  }
  if (route.bodyKind === "json or multipart") return readJsonOrForm(route, event, headers, issues);
  const text = decodeBody(event, limitBytes);
  const contentType = contentTypeOf(headers);
  if (route.bodyKind === "raw") return { text, contentType } satisfies RawBody;
  checkJsonType(route, contentType);
  const { service } = route;
  return readPart(route.body, parseBody(service, text), "body", issues, service.errorFormat);
}

/** A form as it is, or the JSON that the route's schema describes. */
function readJsonOrForm(
  route: Pick<Route, "body" | "bodyLimitBytes" | "service">,
  event: ProxyEvent,
  headers: Record<string, string>,
  issues: ValidationIssue[],
): unknown {
  const contentType = contentTypeOf(headers);
  if (contentType === "multipart/form-data") {
    const body = largeBody(event, route.bodyLimitBytes ?? BODY_LIMIT_BYTES);
    return { ...body, contentType: headers["content-type"] ?? "" } satisfies MultipartBody;
  }
  checkJsonType(route, contentType);
  const { service } = route;
  const { bodyParts, ...rest } = event;
  const whole =
    bodyParts === undefined ? rest : { ...rest, body: joinedBase64(bodyParts), isBase64Encoded: true };
  const text = decodeBody(whole, BODY_LIMIT_BYTES);
  return readPart(route.body, parseBody(service, text), "body", issues, service.errorFormat);
}

const joinedBase64 = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString("base64");

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

/** Throws the service's error for a content type other than JSON. Forms pass: curl sends theirs if no type is given. */
function checkJsonType({ service }: Pick<Route, "service">, contentType: string): void {
  if (contentType === "" || contentType === FORM_TYPE || JSON_TYPES.test(contentType)) return;
  throw service.errorFormat.unsupportedMediaTypeError(contentType.slice(0, TYPE_SHOWN_MAX));
}

/** Throws the service's error for a content type that cannot contain a form. Without a form, a field is missing. */
function checkFormType(route: Pick<Route, "service">, contentType: string): void {
  if (contentType !== "multipart/form-data") checkJsonType(route, contentType);
}

/** A large body is read in few reads. */
const FILE_CHUNK_BYTES = 256 * 1024;

function largeBody(
  { bodyFile, bodyParts, bodyStream, body, isBase64Encoded }: ProxyEvent,
  limitBytes: number,
): LargeBody {
  if (bodyStream !== undefined) return bodyStream;
  const parts = bodyParts ?? [Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8")];
  const bytes = bodyFile?.bytes ?? lengthOf(parts);
  if (bytes > limitBytes) throw tooLarge(limitBytes);
  const chunks =
    bodyFile === undefined
      ? chunksOf(parts)
      : createReadStream(bodyFile.path, { highWaterMark: FILE_CHUNK_BYTES });
  return { bytes, chunks };
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

async function* chunksOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

/** Whether the gateway passes the body as for a route with large bodies. */
const isApart = ({ bodyFile, bodyParts }: ProxyEvent): boolean =>
  bodyFile !== undefined || bodyParts !== undefined;

/**
 * Puts a body that the gateway passes in a file or in chunks into the event, for a route without large bodies. One above
 * the limit stays where it is: the route refuses it.
 */
export async function joinBody(event: ProxyEvent, limitBytes: number): Promise<void> {
  const { bodyFile, bodyParts = [] } = event;
  if (!isApart(event) || (bodyFile?.bytes ?? lengthOf(bodyParts)) > limitBytes) return;
  const bytes = bodyFile === undefined ? Buffer.concat(bodyParts) : await readFile(bodyFile.path);
  const joined = { body: bytes.toString("base64"), isBase64Encoded: true };
  Object.assign(event, { ...joined, bodyFile: undefined, bodyParts: undefined });
}

/** The body as text. Throws `payload_too_large`, and `bad_request` for bytes that are not UTF-8. */
function decodeBody(event: ProxyEvent, limitBytes: number): string {
  if (isApart(event)) throw tooLarge(limitBytes);
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
