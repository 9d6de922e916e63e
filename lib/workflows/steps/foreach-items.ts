import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Ports } from "../../platform/ports.ts";
import { ITEMS_PER_BATCH } from "../engine/containers.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderValue } from "../expressions/render-text.ts";
import type { ForeachStep } from "../schema/types.ts";
import { pathIn } from "./bash.ts";
import type { Attempt, Scope } from "./context.ts";
import { toPortablePaths } from "./portable-paths.ts";
import { evaluateScript } from "./script.ts";

/** Longest line of an input file, characters. */
const LINE_MAX_LENGTH = 1024 * 1024;
/** Maximum number of items of one foreach. */
export const ITEMS_MAX = 5_000_000;

/**
 * Stores the items of a foreach in chunks of at most a thousand, in constant memory, and returns their number. The
 * input is a list, a template that gives one (or its JSON text), or a file whose non-blank lines are the items. Throws
 * StepFailedError.
 */
export async function storeItems(attempt: Attempt, scope: Scope, step: ForeachStep): Promise<number> {
  let chunk: unknown[] = [];
  let total = 0;
  const flush = async (): Promise<void> => {
    const from = total - chunk.length;
    const items = await processed(attempt, scope, step, chunk);
    await attempt.deps.blobs.put(
      itemChunkBlob(attempt.run.run_id, attempt.request.key, from),
      JSON.stringify(toPortablePaths(attempt.deps, items)),
    );
    chunk = [];
  };
  for await (const item of inputItems(attempt, scope, step)) {
    if (total >= ITEMS_MAX) throw new StepFailedError(`input: more than ${ITEMS_MAX} items`);
    chunk.push(item);
    total += 1;
    if (chunk.length === ITEMS_PER_BATCH) await flush();
  }
  if (chunk.length > 0) await flush();
  return total;
}

/** Applies the author's script to the items of a chunk; an item for which it throws stays unchanged. */
async function processed(
  attempt: Attempt,
  scope: Scope,
  { variable, variable_pre_process: source }: ForeachStep,
  items: readonly unknown[],
): Promise<readonly unknown[]> {
  if (source === undefined) return items;
  // The loop variable is a variable of the script, quoted or not: no text of an item becomes code.
  const expression = source.replaceAll(new RegExp(`(["']?)\\[\\[${variable}\\]\\]\\1`, "g"), variable);
  const code = `chunk_items.map((${variable}) => { try { return (${expression}); } catch { return ${variable}; } })`;
  const inner: Scope = { ...scope, values: { ...scope.values, chunk_items: items } };
  const { value } = await evaluateScript(attempt, inner, code);
  if (!Array.isArray(value) || value.length !== items.length)
    throw new StepFailedError("variable_pre_process: must be an expression");
  return value.map((made: unknown, at) => made ?? items[at]);
}

/** Returns the items of the chunk that contains a position. */
export async function loadItems(
  deps: Pick<Ports, "blobs">,
  runId: string,
  foreachKey: string,
  position: number,
): Promise<{ items: readonly unknown[]; from: number }> {
  const from = position - (position % ITEMS_PER_BATCH);
  const bytes = await deps.blobs.get(itemChunkBlob(runId, foreachKey, from));
  return {
    items: bytes === undefined ? [] : (JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown[]),
    from,
  };
}

/** The key must contain ids and numbers only, so the step's key is hex-encoded. */
export function itemChunkBlob(runId: string, foreachKey: string, from: number): string {
  return `runs/${runId}/items/${Buffer.from(foreachKey).toString("hex").slice(0, 200)}/${from}`;
}

async function* inputItems(attempt: Attempt, scope: Scope, step: ForeachStep): AsyncGenerator<unknown> {
  if (typeof step.input !== "string") {
    for (const item of step.input) yield renderValue(parseTemplate(item, scope), scope.values) ?? "";
    return;
  }
  const value = renderValue(parseTemplate(step.input, scope), scope.values);
  const list = Array.isArray(value) ? (value as unknown[]) : listIn(value);
  if (list !== undefined) yield* list;
  else yield* linesOf(pathIn(attempt, String(value ?? "")), String(value ?? ""));
}

/** Parses a JSON list in text, as functions and commands print it. */
function listIn(value: unknown): unknown[] | undefined {
  if (typeof value !== "string" || !value.trimStart().startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

async function* linesOf(path: string, named: string): AsyncGenerator<string> {
  if (path.includes("\0")) throw new StepFailedError("input: not a path");
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || !info.isFile())
    throw new StepFailedError(`input: no such file: ${named.slice(0, 200)}`);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    if (line.length > LINE_MAX_LENGTH)
      throw new StepFailedError(`input: a line is longer than ${LINE_MAX_LENGTH} characters`);
    const item = line.trim();
    if (item !== "") yield item;
  }
}
