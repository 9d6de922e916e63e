import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the server received. */
export interface LlmRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown> & { readonly messages?: { role: string; content: unknown }[] };
  /** Time by `performance.now()`. */
  readonly at: number;
}

/** Replies to one request. */
export type LlmReply = (outgoing: ServerResponse, request: LlmRequest) => void;

/** A fake of a language model provider with OpenAI's protocol, on the loopback address. */
export interface LlmServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly host: string;
  readonly requests: LlmRequest[];
  /** Queues replies to the next requests; afterwards it replies as a model does. */
  next(...replies: readonly LlmReply[]): void;
}

/** Its model repeats the last message, in chunks for streaming requests. */
export async function startLlmServer(): Promise<LlmServer> {
  const seen: LlmRequest[] = [];
  const replies: LlmReply[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    const { url: path = "", headers } = incoming;
    const request = { path, headers, body: JSON.parse(text || "{}"), at: performance.now() } as LlmRequest;
    seen.push(request);
    (replies.shift() ?? defaultReply)(outgoing, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `http://${host}/v1`,
    host,
    requests: seen,
    next: (...more) => void replies.push(...more),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A JSON response. */
export const replyJson =
  (body: unknown, status = 200, headers: Record<string, string> = {}): LlmReply =>
  (outgoing) => {
    outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** An error of the protocol. */
export const replyError = (status: number, message: string, headers: Record<string, string> = {}): LlmReply =>
  replyJson({ error: { message, type: "error", code: null } }, status, headers);

/** Events of a stream, each a chunk of the response or raw text. */
export const replyStream =
  (pieces: readonly unknown[], end = "data: [DONE]\n\n"): LlmReply =>
  (outgoing) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces)
      outgoing.write(typeof piece === "string" ? piece : `data: ${JSON.stringify(piece)}\n\n`);
    outgoing.end(end);
  };

/** Never responds. */
export const noReply: LlmReply = () => undefined;

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

const defaultReply: LlmReply = (outgoing, request) => {
  const { body, path } = request;
  const model = String(body["model"]);
  if (path === "/v1/embeddings")
    return replyJson(embeddingsOf(body["input"] as string[], model))(outgoing, request);
  if (path !== "/v1/chat/completions") return replyError(404, `unknown path: ${path}`)(outgoing, request);
  const content = `you said: ${textOf(body.messages?.at(-1)?.content)}`;
  const head = { id: "chatcmpl-1", created: 1_700_000_000, model };
  if (body["stream"] !== true) {
    const count = Number(body["n"] ?? 1);
    const choices = Array.from({ length: count }, (_, index) => ({
      index,
      finish_reason: "stop",
      message: { role: "assistant", content: index === 0 ? content : `${content} (${index})` },
    }));
    return replyJson({ ...head, object: "chat.completion", choices, usage: USAGE })(outgoing, request);
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const pieces = [...content].map((character) => chunk({ content: character }));
  const last = { ...head, object: "chat.completion.chunk", choices: [], usage: USAGE };
  replyStream([chunk({ role: "assistant", content: "" }), ...pieces, chunk({}, "stop"), last])(
    outgoing,
    request,
  );
};

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? "[image]").join("");
}

/** In reverse order, as some servers do, with their indexes. */
function embeddingsOf(input: readonly string[], model: string) {
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: [index, text.length] }));
  return { object: "list", model, data: data.toReversed(), usage: { prompt_tokens: 3, total_tokens: 3 } };
}
