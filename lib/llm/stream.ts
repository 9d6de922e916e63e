import type { Completion } from "./completion-results.ts";
import { ProviderCallError } from "./errors.ts";

/** A chunk of a streamed response; servers omit fields. */
interface Chunk {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly created?: number | null;
  readonly usage?: object | null;
  readonly choices?: readonly ChunkChoice[] | null;
}

interface ChunkChoice {
  readonly index?: number | null;
  readonly finish_reason?: string | null;
  readonly delta?: {
    readonly role?: string | null;
    readonly content?: string | null;
    readonly tool_calls?: readonly ToolCallPiece[] | null;
  } | null;
}

interface ToolCallPiece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly type?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

interface Choice {
  role: string | null;
  content: string;
  finish: string | null;
  readonly calls: Map<number, { id: string; type: string; name: string; arguments: string }>;
}

/** Maximum index of a choice or tool call; real responses stay below it. */
const INDEX_MAX = 1_000;

/** Combines the chunks of a stream. Throws ProviderCallError if it ends too early. */
export async function collectStream(chunks: AsyncIterable<Chunk>): Promise<Completion> {
  const choices = new Map<number, Choice>();
  const head: Partial<Omit<Completion, "choices">> = {};
  for await (const chunk of chunks) {
    if (typeof chunk !== "object" || chunk === null) continue;
    head.id ??= chunk.id ?? null;
    head.model ??= chunk.model ?? null;
    head.created ??= chunk.created ?? null;
    if (typeof chunk.usage === "object" && chunk.usage !== null) head.usage = { ...chunk.usage };
    for (const choice of chunk.choices ?? []) addChoice(choices, choice);
  }
  const found = [...choices].toSorted(([a], [b]) => a - b).map(([, choice]) => choice);
  if (found.length === 0 || found.some(({ finish }) => finish === null))
    throw new ProviderCallError("its response ended too early", { again: true, elsewhere: true });
  return { ...head, choices: found.map(toChoice) };
}

function addChoice(choices: Map<number, Choice>, { index, finish_reason, delta }: ChunkChoice): void {
  const at = index ?? 0;
  const choice = choices.get(at) ?? { role: null, content: "", finish: null, calls: new Map() };
  if (choices.size >= INDEX_MAX && !choices.has(at)) return;
  choices.set(at, choice);
  choice.role ??= delta?.role ?? null;
  if (typeof delta?.content === "string") choice.content += delta.content;
  if (typeof finish_reason === "string") choice.finish = finish_reason;
  for (const piece of delta?.tool_calls ?? []) addPiece(choice.calls, piece);
}

function addPiece(calls: Choice["calls"], piece: ToolCallPiece): void {
  const at = piece.index ?? 0;
  if (calls.size >= INDEX_MAX && !calls.has(at)) return;
  const call = calls.get(at) ?? { id: "", type: "function", name: "", arguments: "" };
  calls.set(at, call);
  if (piece.id) call.id = piece.id;
  if (piece.type) call.type = piece.type;
  call.name += piece.function?.name ?? "";
  call.arguments += piece.function?.arguments ?? "";
}

function toChoice({ role, content, finish, calls }: Choice): Completion["choices"][number] {
  const made = [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call);
  return {
    finish_reason: finish,
    message: {
      role,
      content,
      tool_calls: made.map(({ id, type, name, arguments: given }) => ({
        id,
        type,
        function: { name, arguments: given },
      })),
    },
  };
}
