import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as a provider of language models saw it. */
export interface LlmRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown> & { readonly messages?: { role: string; content: unknown }[] };
  /** By `performance.now()`. */
  readonly at: number;
}

/** Answers one request. */
export type LlmReply = (outgoing: ServerResponse, request: LlmRequest) => void;

/** A provider of language models on this machine that speaks OpenAI's protocol. */
export interface LlmServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly host: string;
  readonly seen: LlmRequest[];
  /** Replies to the next requests, in order; afterwards it answers as a model does. */
  next(...replies: readonly LlmReply[]): void;
}

/** Starts one. Its model repeats the last message, by pieces where it is asked to stream. */
export async function startLlmServer(): Promise<LlmServer> {
  const seen: LlmRequest[] = [];
  const replies: LlmReply[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    const { url: path = "", headers } = incoming;
    const request = { path, headers, body: JSON.parse(text || "{}"), at: performance.now() } as LlmRequest;
    seen.push(request);
    (replies.shift() ?? answered)(outgoing, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `http://${host}/v1`,
    host,
    seen,
    next: (...more) => void replies.push(...more),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A JSON answer. */
export const replied =
  (body: unknown, status = 200, headers: Record<string, string> = {}): LlmReply =>
  (outgoing) => {
    outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** An error as the protocol has it. */
export const refused = (status: number, message: string, headers: Record<string, string> = {}): LlmReply =>
  replied({ error: { message, type: "error", code: null } }, status, headers);

/** Events of a stream, each a piece of an answer or text as it stands. */
export const streamed =
  (pieces: readonly unknown[], end = "data: [DONE]\n\n"): LlmReply =>
  (outgoing) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces)
      outgoing.write(typeof piece === "string" ? piece : `data: ${JSON.stringify(piece)}\n\n`);
    outgoing.end(end);
  };

/** Never answers. */
export const silent: LlmReply = () => undefined;

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

const answered: LlmReply = (outgoing, request) => {
  const { body, path } = request;
  const model = String(body["model"]);
  if (path === "/v1/embeddings")
    return replied(embeddingsOf(body["input"] as string[], model))(outgoing, request);
  if (path !== "/v1/chat/completions") return refused(404, `no such path: ${path}`)(outgoing, request);
  const content = `you said: ${textOf(body.messages?.at(-1)?.content)}`;
  const head = { id: "chatcmpl-1", created: 1_700_000_000, model };
  if (body["stream"] !== true) {
    const count = Number(body["n"] ?? 1);
    const choices = Array.from({ length: count }, (_, index) => ({
      ...{ index, finish_reason: "stop" },
      message: { role: "assistant", content: index === 0 ? content : `${content} (${index})` },
    }));
    return replied({ ...head, object: "chat.completion", choices, usage: USAGE })(outgoing, request);
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const pieces = [...content].map((character) => chunk({ content: character }));
  const last = { ...head, object: "chat.completion.chunk", choices: [], usage: USAGE };
  streamed([chunk({ role: "assistant", content: "" }), ...pieces, chunk({}, "stop"), last])(
    outgoing,
    request,
  );
};

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? "[image]").join("");
}

/** In reverse, as some servers do, with the place of each. */
function embeddingsOf(input: readonly string[], model: string) {
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: [index, text.length] }));
  return { object: "list", model, data: data.toReversed(), usage: { prompt_tokens: 3, total_tokens: 3 } };
}
