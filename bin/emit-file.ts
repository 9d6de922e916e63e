import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { type ApiClient, dataOf, type Schemas } from "../client/api.ts";
import { ErrorResponse } from "./connection.ts";
import { CommandFailure, messageOf } from "./errors.ts";
import { terminal } from "./terminal.ts";

/** Maximum number and characters of the events of one request; characters may have up to three bytes. */
const EVENTS_MAX = 1_000;
const TEXT_MAX_LENGTH = 300_000;

interface Batch {
  readonly events: readonly Schemas["EmitEvent"][];
  /** The lines of the first and the last event. */
  readonly first: number;
  readonly last: number;
}

export type EmitAnswer = Schemas["EmitAnswer"];

/**
 * Emits the events of a file of JSON lines, or of standard input for `-`, in requests of up to a thousand. `report`
 * receives the responses of each. Throws CommandFailure with the lines that were not accepted.
 */
export async function emitFile(
  api: ApiClient,
  path: string,
  report: (answers: readonly EmitAnswer[]) => void,
): Promise<void> {
  let emitted = 0;
  try {
    for await (const { events, first, last } of batchesOf(linesOf(path))) {
      const sent = api.POST("/automation/events/emit", { body: [...events] });
      const answers = await dataOf(sent).catch((error: unknown) => {
        throw error instanceof ErrorResponse
          ? new CommandFailure(
              `Lines ${first} to ${last} of ${path} were not accepted: ${error.reason}`,
              error.hint,
            )
          : error;
      });
      emitted += events.length;
      report(Array.isArray(answers) ? answers : [answers]);
    }
  } catch (error) {
    if (emitted > 0) terminal.error(`${emitted} events were emitted before the failure\n`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new CommandFailure(`The file ${path} does not exist.`);
    if (code === "EISDIR" || code === "EACCES")
      throw new CommandFailure(`${path} cannot be read: ${messageOf(error)}.`);
    throw error;
  }
}

async function* linesOf(path: string): AsyncGenerator<readonly [number: number, line: string]> {
  const input: Readable = path === "-" ? process.stdin : createReadStream(path);
  // `readline` does not pass on the errors of its input.
  const failed = new Promise<never>((_, reject) => input.once("error", reject));
  failed.catch(() => {});
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  for (let number = 1; ; number += 1) {
    const next = await Promise.race([lines.next(), failed]);
    if (next.done === true) return;
    if (next.value.trim() !== "") yield [number, next.value];
  }
}

async function* batchesOf(lines: AsyncIterable<readonly [number, string]>): AsyncGenerator<Batch> {
  let events: Schemas["EmitEvent"][] = [];
  let [first, last, length] = [0, 0, 0];
  for await (const [number, line] of lines) {
    if (events.length === EVENTS_MAX || (events.length > 0 && length + line.length > TEXT_MAX_LENGTH)) {
      yield { events, first, last };
      events = [];
      length = 0;
    }
    if (events.length === 0) first = number;
    events.push(parseEvent(number, line));
    last = number;
    length += line.length;
  }
  if (events.length > 0) yield { events, first, last };
}

function parseEvent(number: number, line: string): Schemas["EmitEvent"] {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === "object" && event !== null && !Array.isArray(event))
      return event as Schemas["EmitEvent"];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CommandFailure(`Line ${number} is not a JSON object.`);
}
