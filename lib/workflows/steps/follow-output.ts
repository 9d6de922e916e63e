import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Attempt } from "./context.ts";
import { type LineKind, logStep } from "./run-log.ts";

/** How often the output of a running command is read, milliseconds. */
const LOOK_EVERY_MS = 300;
/** Maximum output of one command in the log, bytes of each of its files; the files are complete. */
const LOGGED_MAX_BYTES = 1024 * 1024;
/** Maximum number of lines: each line gets a time and step prefix, so short lines grow. */
const LOGGED_MAX_LINES = 10_000;
const READ_BYTES = 64 * 1024;
const NEWLINE = 10;

interface Outputs {
  readonly stdoutPath: string;
  readonly stderrPath: string;
}

export interface Follower {
  /** Reads the rest. `text` is the standard output, if the caller has read all of it. */
  end(sizes: { readonly stdoutBytes: number; readonly stderrBytes: number }, text?: string): Promise<void>;
}

/** Copies the output of a command to its run's log while it runs. */
export function followOutput(attempt: Attempt, { stdoutPath, stderrPath }: Outputs): Follower {
  const out = new Followed(attempt, stdoutPath, "| ");
  const err = new Followed(attempt, stderrPath, "! ");
  let looking: Promise<unknown> | undefined;
  const look = (whole: boolean): Promise<unknown> => Promise.all([out.look(whole), err.look(whole)]);
  const timer = setInterval(() => {
    looking ??= look(false)
      .catch((error: unknown) => attempt.deps.log.warn("output cannot be followed", { error }))
      .finally(() => {
        looking = undefined;
      });
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    end: async ({ stdoutBytes, stderrBytes }, text) => {
      clearInterval(timer);
      await looking;
      try {
        if (text !== undefined && out.taken === 0) out.take(text);
        else if (stdoutBytes > out.taken) await out.look(true);
        if (stderrBytes > err.taken) await err.look(true);
      } catch (error) {
        attempt.deps.log.warn("output cannot be followed", { error });
      }
    },
  };
}

class Followed {
  /** Number of bytes copied to the log. */
  taken = 0;
  #lines = 0;
  readonly #attempt: Attempt;
  readonly #path: string;
  readonly #kind: LineKind;

  constructor(attempt: Attempt, path: string, kind: LineKind) {
    this.#attempt = attempt;
    this.#path = path;
    this.#kind = kind;
  }

  take(text: string): void {
    if (text === "") return;
    const shown = text.slice(0, LOGGED_MAX_BYTES);
    const end = this.#endOfRoom(shown);
    logStep(this.#attempt, shown.slice(0, end), this.#kind);
    if (text.length > end) this.#more();
  }

  /** Returns the end of the lines of `text` that the log still accepts. */
  #endOfRoom(text: string): number {
    let end = -1;
    while (this.#lines < LOGGED_MAX_LINES) {
      end = text.indexOf("\n", end + 1);
      if (end < 0) return text.length;
      this.#lines += 1;
    }
    return Math.max(0, end);
  }

  get #isFull(): boolean {
    return this.taken >= LOGGED_MAX_BYTES || this.#lines >= LOGGED_MAX_LINES;
  }

  /** Reads complete lines; with `whole`, also the incomplete last line, because no output will follow. */
  async look(whole: boolean): Promise<void> {
    if (this.#isFull) return;
    // Most reads find nothing new.
    const found = await stat(this.#path).catch(() => undefined);
    if (found === undefined || found.size <= this.taken) return;
    const file = await open(this.#path, "r").catch(() => undefined);
    if (file === undefined) return;
    try {
      const buffer = Buffer.alloc(READ_BYTES);
      while (!this.#isFull) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, this.taken);
        const lines = buffer.lastIndexOf(NEWLINE, bytesRead - 1) + 1;
        const length = lines > 0 ? lines : whole || bytesRead === READ_BYTES ? bytesRead : 0;
        if (bytesRead === 0 || length === 0) return;
        this.taken += length;
        const read = buffer.toString("utf8", 0, length);
        const text = read.slice(0, this.#endOfRoom(read));
        logStep(this.#attempt, text.endsWith("\n") ? text.slice(0, -1) : text, this.#kind);
      }
      this.#more();
    } finally {
      await file.close();
    }
  }

  #more(): void {
    logStep(this.#attempt, `[more in ${basename(this.#path)}]`, this.#kind);
  }
}
