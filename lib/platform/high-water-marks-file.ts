import { readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import {
  type HighWaterMarks,
  mergeHighWaterMarks,
  readHighWaterMarks,
  recordedChanges,
  startRecording,
  stopRecording,
} from "./high-water-marks.ts";
import { LIMITS } from "./limits.ts";
import type { Log } from "./log.ts";

/** File name in the data folder. */
export const HIGH_WATER_MARKS_FILE = "limits.json";
/** Milliseconds between two writes of changed marks. A crash loses the changes since the last write. */
const WRITTEN_EVERY_MS = 5_000;

const fileSchema = z.object({
  form: z.literal(1),
  since: z.iso.datetime(),
  written: z.iso.datetime(),
  limits: z.record(z.string(), z.number().nonnegative()),
  handlers: z.record(z.string(), z.number().nonnegative()),
});

export interface StoredHighWaterMarks extends HighWaterMarks {
  /** ISO 8601: when the file was created, and when it was last written. */
  readonly since: string;
  readonly written: string;
}

/** Reads what the servers of a data folder recorded: `none` if there is no file, `unreadable` if it is not valid. */
export function readHighWaterMarksFile(dataDir: string): StoredHighWaterMarks | "none" | "unreadable" {
  let text: string;
  try {
    text = readFileSync(join(dataDir, HIGH_WATER_MARKS_FILE), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "none" : "unreadable";
  }
  try {
    const { since, written, limits, handlers } = fileSchema.parse(JSON.parse(text));
    const known = Object.entries(limits).filter(([name]) => Object.hasOwn(LIMITS, name));
    return { since, written, limits: Object.fromEntries(known) as HighWaterMarks["limits"], handlers };
  } catch {
    return "unreadable";
  }
}

export interface HighWaterMarksFile {
  /** Writes the last changes and stops recording. Never rejects. */
  close(): Promise<void>;
}

/**
 * Records high-water marks in this process, starting with those of the data folder, and writes changes there atomically.
 * A file that is not valid is replaced. If it cannot be written, one warning is logged.
 */
export function recordToFile(options: {
  readonly dataDir: string;
  readonly log: Log;
  readonly everyMs?: number;
}): HighWaterMarksFile {
  const { dataDir, log, everyMs = WRITTEN_EVERY_MS } = options;
  startRecording();
  const path = join(dataDir, HIGH_WATER_MARKS_FILE);
  const temporary = `${path}.${process.pid}`;
  const startedAt = new Date().toISOString();
  let unwritable = false;

  /** Merges the marks that other processes wrote; returns the time when recording started. */
  const merge = (): string => {
    const stored = readHighWaterMarksFile(dataDir);
    if (stored === "none" || stored === "unreadable") return startedAt;
    mergeHighWaterMarks(stored);
    return stored.since;
  };
  if (readHighWaterMarksFile(dataDir) === "unreadable")
    log.warn(`${HIGH_WATER_MARKS_FILE} cannot be read and is replaced`, { path });
  merge();

  // NaN ensures the first write.
  let writtenAt = Number.NaN;
  const write = async (): Promise<void> => {
    if (recordedChanges() === writtenAt) return;
    try {
      const since = merge();
      const changes = recordedChanges();
      const written = new Date().toISOString();
      const file: StoredHighWaterMarks & { form: 1 } = { form: 1, since, written, ...readHighWaterMarks() };
      await writeFile(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
      await rename(temporary, path);
      writtenAt = changes;
      unwritable = false;
    } catch (error) {
      if (!unwritable) log.warn(`${HIGH_WATER_MARKS_FILE} cannot be written`, { error });
      unwritable = true;
      await rm(temporary, { force: true }).catch(() => undefined);
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
      stopRecording();
    },
  };
}
