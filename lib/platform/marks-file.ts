import { readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { LIMITS } from "./limits.ts";
import type { Log } from "./log.ts";
import { forgetMarks, type Marks, marksChanges, noteMarks, readMarks } from "./marks.ts";

/** In the data folder. */
export const MARKS_FILE = "limits.json";
/** Changed marks are written so often, milliseconds; a crash loses what was seen since. */
const WRITTEN_EVERY_MS = 5_000;

const fileSchema = z.object({
  form: z.literal(1),
  since: z.iso.datetime(),
  written: z.iso.datetime(),
  limits: z.record(z.string(), z.number().nonnegative()),
  handlers: z.record(z.string(), z.number().nonnegative()),
});

export interface KeptMarks extends Marks {
  /** ISO 8601: when the file was begun, and when it was last written. */
  readonly since: string;
  readonly written: string;
}

/** What a data folder's servers have seen, `none` where nothing was written yet, `unreadable` where it is no file of marks. */
export function readMarksFile(dataDir: string): KeptMarks | "none" | "unreadable" {
  let text: string;
  try {
    text = readFileSync(join(dataDir, MARKS_FILE), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "none" : "unreadable";
  }
  try {
    const { since, written, limits, handlers } = fileSchema.parse(JSON.parse(text));
    const known = Object.entries(limits).filter(([name]) => Object.hasOwn(LIMITS, name));
    return { since, written, limits: Object.fromEntries(known) as Marks["limits"], handlers };
  } catch {
    return "unreadable";
  }
}

export interface MarksKeeper {
  /** Writes what is new, and ends. Never rejects. */
  close(): Promise<void>;
}

/**
 * Goes on from the marks of a data folder, and writes them there when they have changed, whole or not at
 * all. A file that cannot be read counts as none; one that cannot be written is told of, once, and harms nothing.
 */
export function keepMarks(options: {
  readonly dataDir: string;
  readonly log: Log;
  readonly everyMs?: number;
}): MarksKeeper {
  const { dataDir, log, everyMs = WRITTEN_EVERY_MS } = options;
  const path = join(dataDir, MARKS_FILE);
  const draft = `${path}.${process.pid}`;
  const begun = new Date().toISOString();
  let unwritable = false;

  /** Notes what others have written meanwhile; answers since when there are marks. */
  const merge = (): string => {
    const there = readMarksFile(dataDir);
    if (there === "none" || there === "unreadable") return begun;
    noteMarks(there);
    return there.since;
  };
  if (readMarksFile(dataDir) === "unreadable")
    log.warn(`${MARKS_FILE} cannot be read and is begun anew`, { path });
  merge();

  // The first time always: the start has seen something already.
  let writtenAt = Number.NaN;
  const write = async (): Promise<void> => {
    if (marksChanges() === writtenAt) return;
    try {
      const since = merge();
      const changes = marksChanges();
      const written = new Date().toISOString();
      const file: KeptMarks & { form: 1 } = { form: 1, since, written, ...readMarks() };
      await writeFile(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
      await rename(draft, path);
      writtenAt = changes;
      unwritable = false;
    } catch (error) {
      if (!unwritable) log.warn(`${MARKS_FILE} cannot be written`, { error });
      unwritable = true;
      await rm(draft, { force: true }).catch(() => undefined);
    }
  };
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, everyMs);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await writing.then(write);
      // Another server of this process has a data folder of its own.
      forgetMarks();
    },
  };
}
