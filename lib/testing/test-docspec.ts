import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the fake has received. */
export interface DocspecRequest {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly accept: string;
  readonly body: Buffer;
}

export interface TestDocspec extends AsyncDisposable {
  /** The value of DOCSPEC_API_URL. */
  readonly url: string;
  readonly requests: readonly DocspecRequest[];
  /** Replaces the conversions; an empty file is answered as before. */
  onConversion(respond: (response: ServerResponse) => void): void;
  /** Replaces the server by one of another version. */
  setVersion(version: 2 | 3): void;
}

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const BLOCKS = ["application/vnd.docspec.blocknote+json", "application/vnd.blocknote+json", "*/*"];

/** A fake of DocSpec's API as of 2.6 or 3.0, which converts every file to these blocks. */
export async function startTestDocspec(blocks: readonly object[], first: 2 | 3 = 3): Promise<TestDocspec> {
  const requests: DocspecRequest[] = [];
  let version = first;
  let respond: ((response: ServerResponse) => void) | undefined;
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request: DocspecRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      type: incoming.headers["content-type"] ?? "",
      accept: incoming.headers.accept ?? "",
      body: Buffer.concat(chunks),
    };
    requests.push(request);
    if (request.path !== "/conversion")
      send(response, 404, "text/plain", "To use the Conversion API, upload a file.");
    else if (version === 2) respondAsVersion2(request, response, blocks);
    else respondAsVersion3(request, response, blocks, respond);
  };
  const server = createServer((incoming, response) => void handle(incoming, response));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/conversion`,
    requests,
    onConversion: (given) => {
      respond = given;
    },
    setVersion: (given) => {
      version = given;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Forms only: whatever else is sent contains no file. */
function respondAsVersion2(
  { method, type, body }: DocspecRequest,
  response: ServerResponse,
  blocks: object,
): void {
  const json = "application/json; charset=utf-8";
  const hasFile = type.startsWith("multipart/form-data") && body.includes(DOCX);
  if (method !== "POST") send(response, 405, json, { code: 405, message: "Method Not Allowed" });
  else if (!hasFile) send(response, 400, json, { code: 400, message: "No DOCX file uploaded." });
  else send(response, 200, json, blocks);
}

function respondAsVersion3(
  request: DocspecRequest,
  response: ServerResponse,
  blocks: object,
  respond: ((response: ServerResponse) => void) | undefined,
): void {
  const problem = problemOf(request);
  if (problem !== undefined) {
    const [status, title, detail] = problem;
    const type = "application/problem+json; charset=utf-8";
    send(response, status, type, { type: "about:blank", title, status, detail });
  } else if (respond !== undefined) respond(response);
  else send(response, 200, `${request.accept}; charset=utf-8`, blocks);
}

function problemOf({ method, type, accept, body }: DocspecRequest): [number, string, string] | undefined {
  if (method !== "POST") return [405, "Method Not Allowed", "Only POST is supported on this endpoint."];
  if (!BLOCKS.includes(accept)) return [406, "Not Acceptable", `Accept header must include ${BLOCKS[0]}`];
  if (type.startsWith("multipart/"))
    return [415, "Unsupported Media Type", "Multipart uploads are not supported. Send raw binary body."];
  if (type !== DOCX) return [415, "Unsupported Media Type", `Content-Type must be ${DOCX}`];
  if (body.length === 0) return [400, "Bad Request", "Request body is empty"];
  if (body.subarray(0, 2).equals(Buffer.from("PK"))) return undefined;
  return [422, "Unprocessable Content", "Document could not be parsed as valid DOCX"];
}

/** Sends a body of this type; objects as JSON. */
export function send(response: ServerResponse, status: number, type: string, body: string | object): void {
  response.writeHead(status, { "content-type": type });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
