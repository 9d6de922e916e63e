import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import {
  conversionService,
  documentsService,
  externalService,
  mediaService,
} from "../lib/documents/service.ts";
import type { ProxyResult, ResponseHead } from "../lib/http/handler.ts";
import { serviceAt } from "../lib/http/service.ts";
import { exceedsLimitAsJson } from "../lib/platform/high-water-marks.ts";
import { rootService, workflowsService } from "../lib/workflows/service.ts";
import type { Connections } from "./connections.ts";
import { type LocalResponseStream, START } from "./lambda-runtime.ts";
import { ClientDisconnectedError } from "./request-body.ts";

/** Time for a client that still sends to read the response that refuses its request, milliseconds. */
const LINGER_MS = 1000;

const ERROR_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

const SERVICES = [
  rootService,
  workflowsService,
  documentsService,
  externalService,
  mediaService,
  conversionService,
];

/** Serves pages to browsers, at paths that no function has. */
export interface PageServer {
  /** Responds if the request is for a page or one of its files; returns whether it does. */
  respond(incoming: IncomingMessage, outgoing: ServerResponse, path: string): boolean;
}

/** Whether a path belongs to one of the services, which respond with an error if it does not exist. */
export const isServicePath = (path: string): boolean =>
  (serviceAt(SERVICES, path) ?? rootService) !== rootService;

/** An error body in the format of the service that the path belongs to. */
export function errorBody(message: string, path = ""): string {
  const { errorFormat } = serviceAt(SERVICES, path) ?? rootService;
  return JSON.stringify(errorFormat.errorBody({ message }));
}

interface ErrorOptions {
  readonly close?: boolean;
  readonly path?: string;
}

/** Writes an error of the gateway itself. If the response has begun, closes its connection. */
export function writeError(
  outgoing: ServerResponse,
  status: number,
  message: string,
  { close = false, path = "" }: ErrorOptions,
): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const body = errorBody(message, path);
  const headers: Record<string, string | number> = {
    ...ERROR_HEADERS,
    "content-length": Buffer.byteLength(body),
  };
  if (close) headers.connection = "close";
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

/**
 * Refuses a request whose body is not read. The connection is closed a moment after the response was sent: if it is
 * closed while the client sends, the client may lose the response.
 */
export function writeRefusal(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  message: string,
  path = "",
  headers: Readonly<Record<string, string>> = {},
): void {
  writeUnread(incoming, outgoing, {
    statusCode: status,
    headers: { ...ERROR_HEADERS, ...headers },
    body: errorBody(message, path),
  });
}

/** Writes a response to a request whose body is not read, and closes the connection. */
export function writeUnread(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { statusCode, headers, body }: ProxyResult,
): void {
  outgoing.writeHead(statusCode, {
    ...headers,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  if (incoming.headers.expect !== undefined) {
    outgoing.end(body);
    return;
  }
  outgoing.write(body);
  const finish = (): void => {
    clearTimeout(timer);
    incoming.off("end", finish).off("close", finish);
    outgoing.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  incoming.on("end", finish).on("close", finish).resume();
}

/** Statuses of the errors of Node's parser, by their code; 400 for any other. */
const PARSER_STATUS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "The request line and the headers are too long"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The chunk extensions are too long"],
};

/** Refuses a malformed or incomplete request, and closes the connection. */
export function writeParserError(error: NodeJS.ErrnoException, socket: Duplex, isResponding: boolean): void {
  if (error.code === "ECONNRESET" || isResponding || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = PARSER_STATUS[error.code ?? ""] ?? [400, "The request is malformed"];
  writeToSocket(socket, status, message);
}

/** Writes an error response to a connection without a response object, and closes it. */
export function writeToSocket(socket: Duplex, status: number, message: string, path = ""): void {
  const body = errorBody(message, path);
  const headers = { ...ERROR_HEADERS, "content-length": Buffer.byteLength(body), connection: "close" };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("")}\r\n${body}`);
  // If the socket is destroyed while the client sends, the client may lose the response.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** The result of a REST proxy function, which may not be one of the HTTP layer. */
type FunctionResult = Partial<ProxyResult>;

/** Node concatenates a text with the headers before it encodes both, which is slow for a long text. */
const LONG_CHARS = 64 * 1024;

function contentOf(body: string, isBase64: boolean | undefined): string | Buffer {
  if (isBase64 === true) return Buffer.from(body, "base64");
  return body.length < LONG_CHARS ? body : Buffer.from(body);
}

/** Writes the result of a function. Throws if it is not a response, or above Lambda's payload limit. */
export function writeResult(
  outgoing: ServerResponse,
  result: unknown,
  close: boolean,
  connections: Connections,
): void {
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = (result ?? {}) as FunctionResult;
  if (typeof statusCode !== "number" || STATUS_CODES[statusCode] === undefined) {
    throw new TypeError("The function's result has no status code");
  }
  if (body !== undefined && body !== null && typeof body !== "string") {
    throw new TypeError("The body of the function's result is not a string");
  }
  const content = contentOf(body ?? "", isBase64Encoded);
  const bytes = Buffer.byteLength(content);
  if (exceedsLimitAsJson("payloadBytes", body ?? "")) {
    throw new RangeError(
      `The function's result has ${bytes} bytes, more than the limit of a buffered response`,
    );
  }
  const all: Record<string, string | number | readonly string[]> = { ...headers, ...multiValueHeaders };
  const bodiless = statusCode === 204 || statusCode === 304;
  // The response to HEAD may name the length of content that it does not contain.
  const hasOwnLength = outgoing.req.method === "HEAD" && bytes === 0 && "content-length" in all;
  if (!bodiless && !hasOwnLength) all["content-length"] = bytes;
  if (close) all.connection = "close";
  outgoing.writeHead(statusCode, all as Record<string, string | number | string[]>);
  outgoing.end(bodiless ? undefined : content);
  connections.noteUnsent(outgoing, bytes);
}

/** Lambda's response stream over a response of the server. Throws ClientDisconnectedError if the client has disconnected. */
export class OutgoingStream implements LocalResponseStream {
  readonly #outgoing: ServerResponse;
  readonly #close: () => boolean;
  readonly #connections: Connections;

  constructor(outgoing: ServerResponse, close: () => boolean, connections: Connections) {
    this.#outgoing = outgoing;
    this.#close = close;
    this.#connections = connections;
    outgoing.on("drain", () => connections.noteSent(outgoing));
  }

  [START]({ statusCode, headers, multiValueHeaders = {} }: ResponseHead): void {
    if (this.#outgoing.destroyed) throw new ClientDisconnectedError();
    const lists = Object.entries(multiValueHeaders).map(([name, values]) => [name, [...values]] as const);
    const close = this.#close() ? { connection: "close" } : {};
    this.#outgoing.writeHead(statusCode, { ...headers, ...Object.fromEntries(lists), ...close });
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#outgoing.destroyed) throw new ClientDisconnectedError();
    if (!this.#outgoing.headersSent) {
      this[START]({ statusCode: 200, headers: { "content-type": "application/octet-stream" } });
    }
    const hasRoom = this.#outgoing.write(chunk);
    if (!hasRoom) this.#connections.noteUnsent(this.#outgoing, chunk.length);
    return hasRoom;
  }

  end(chunk?: string | Uint8Array): void {
    if (chunk !== undefined) this.write(chunk);
    this.#outgoing.end();
  }

  once(event: "drain" | "close", listener: () => void): this {
    if (event === "close" && this.#outgoing.destroyed) queueMicrotask(listener);
    else this.#outgoing.once(event, listener);
    return this;
  }

  off(event: "drain" | "close", listener: () => void): this {
    this.#outgoing.off(event, listener);
    return this;
  }
}
