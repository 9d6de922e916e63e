import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly body: Buffer;
}

const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = "0\r\n\r\n";
/** Offset of the status in `HTTP/1.1 200 OK`. */
const STATUS_AT = 9;

/**
 * Parses a response; `undefined` while it is incomplete. Supports only what the servers of a benchmark send:
 * Content-Length, or chunks of JSON, which cannot contain the text of the last chunk.
 */
export function parseResponse(bytes: Buffer): RawResponse | undefined {
  const head = headOf(bytes);
  if (head === undefined) return undefined;
  const { text, length } = head;
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const body = bytes.subarray(text.length + HEAD_END.length);
  if (length !== undefined) return body.length < length ? undefined : { status, body };
  if (!/\r\ntransfer-encoding: *chunked/i.test(text)) return { status, body };
  const ended = body.subarray(-LAST_CHUNK.length).toString("latin1") === LAST_CHUNK;
  return ended ? { status, body: withoutChunks(body) } : undefined;
}

/** Length in bytes of a response that has begun, or 0 without Content-Length. */
function answerLength(bytes: Buffer): number {
  const { text = "", length } = headOf(bytes) ?? {};
  return length === undefined ? 0 : text.length + HEAD_END.length + length;
}

function headOf(bytes: Buffer): { readonly text: string; readonly length: number | undefined } | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  return { text, length: length === undefined ? undefined : Number(length) };
}

function withoutChunks(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

/** Bytes of a request on a keep-alive connection. */
export function rawRequest(
  method: string,
  path: string,
  { token, body }: { readonly token?: string; readonly body?: string },
): string {
  const authorization = token === undefined ? "" : `authorization: Bearer ${token}\r\n`;
  const content =
    body === undefined
      ? ""
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}${content}\r\n${body ?? ""}`;
}

/** A keep-alive connection with one request at a time; far cheaper than node:http's client. */
export class RawConnection {
  readonly #socket: Socket;
  #held: Buffer[] = [];
  #size = 0;
  /** Minimum number of bytes of a complete response. */
  #wanted = 0;
  #waiting: PromiseWithResolvers<RawResponse> | undefined;
  #fault: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.off("error", reject);
        resolve(new RawConnection(socket));
      });
      socket.once("error", reject);
    });
  }

  /** Sends a request and resolves with the response. Rejects if the connection breaks. */
  send(request: string): Promise<RawResponse> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    const waiting = Promise.withResolvers<RawResponse>();
    this.#waiting = waiting;
    this.#socket.write(request);
    return waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return;
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    const answer = parseResponse(bytes);
    this.#held = answer === undefined ? [bytes] : [];
    this.#wanted = answer === undefined ? answerLength(bytes) : 0;
    if (answer === undefined) return;
    this.#size = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
