import { ApiFailure, dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { csrfHeaders } from "../../../api/csrf.ts";

export const AI_ACTIONS = ["rephrase", "summarize", "correct", "beautify", "emojify", "prompt"] as const;
export type AiAction = (typeof AI_ACTIONS)[number];

/** A request about a text. */
export type AiRequest =
  | { readonly kind: "transform"; readonly action: AiAction; readonly text: string }
  /** `text` is HTML, and so is the answer. */
  | { readonly kind: "translate"; readonly language: string; readonly text: string }
  | { readonly kind: "ask"; readonly instruction: string; readonly text: string };

/** The answer of the model in parts. Rejects with an ApiFailure, or with an Error that has the model's message. */
export async function* askModel(id: string, asked: AiRequest, signal: AbortSignal): AsyncGenerator<string> {
  if (asked.kind === "ask") yield* streamAnswer(id, asked, signal);
  else yield await readAnswer(id, asked, signal);
}

async function readAnswer(
  id: string,
  asked: Exclude<AiRequest, { readonly kind: "ask" }>,
  signal: AbortSignal,
): Promise<string> {
  const params = { path: { id } };
  const { text } = asked;
  const response =
    asked.kind === "transform"
      ? api.POST("/api/v1.0/documents/{id}/ai-transform", {
          params,
          body: { text, action: asked.action },
          signal,
        })
      : api.POST("/api/v1.0/documents/{id}/ai-translate", {
          params,
          body: { text, language: asked.language },
          signal,
        });
  return (await dataOf(response)).answer;
}

async function* streamAnswer(
  id: string,
  { instruction, text }: Extract<AiRequest, { readonly kind: "ask" }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const parts = [{ type: "text", text: text === "" ? instruction : `${instruction}\n\n${text}` }];
  const response = await fetch(`/api/v1.0/documents/${id}/ai-proxy/`, {
    method: "POST",
    headers: { ...csrfHeaders(), "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ id: "1", role: "user", parts }] }),
    signal,
  });
  if (!response.ok || response.body === null)
    throw new ApiFailure(response.status, await response.json().catch(() => undefined));
  for await (const line of linesOf(response.body)) {
    if (!line.startsWith("data: {")) continue;
    const chunk = JSON.parse(line.slice("data: ".length)) as {
      readonly type?: string;
      readonly delta?: string;
      readonly errorText?: string;
    };
    if (chunk.type === "text-delta") yield chunk.delta ?? "";
    if (chunk.type === "error") throw new Error(chunk.errorText);
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
