import { setTimeout as sleep } from "node:timers/promises";
import { startLoad } from "./load.ts";
import type { LoadPlan, LoadReport, RecentLoad } from "./load-plan.ts";
import { memoryOf, openFilesOf, programsOf } from "./processes.ts";
import type { Server } from "./server.ts";

const SAMPLE_MS = 5_000;
const SAMPLES_MIN = 10;
const MS_PER_MINUTE = 60_000;
/** Time for the pending responses at the end. */
const LAST_ANSWERS_MS = 60_000;
const LOG_LINES = 20;

/** A sample of the server's resources, with its processes and those of its steps. */
export interface Sample {
  /** Minutes since the start of the load. */
  readonly minute: number;
  readonly mb: number;
  /** Open files of the server's own processes; those of steps vary. */
  readonly files: number;
}

/**
 * Sends a load for `minutes`, passes a line per minute to `tell`, and samples the server. Rejects with the end of the
 * server's log if a connection breaks or the last responses do not arrive.
 */
export async function watchedLoad(
  server: Server,
  plan: LoadPlan,
  { minutes, tell }: { readonly minutes: number; tell(line: string): void },
): Promise<{ report: LoadReport; samples: Sample[] }> {
  const load = startLoad(plan);
  const ended = new AbortController();
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const watch = async (): Promise<never> => {
    const every = Math.min(SAMPLE_MS, (minutes * MS_PER_MINUTE) / SAMPLES_MIN);
    for (let minute = 0, told = 0; minute < minutes; ) {
      await sleep(every, undefined, { signal: ended.signal });
      minute = (performance.now() - startedAt) / MS_PER_MINUTE;
      const sample = { minute, mb: memoryOf(server.pid).mb, files: openFilesOf(programsOf(server.pid)) };
      samples.push(sample);
      if (minute < told + 1 && minute < minutes) continue;
      told = Math.floor(minute);
      tell(lineOf(sample, await load.recent()));
    }
    void load.stop();
    await sleep(LAST_ANSWERS_MS, undefined, { signal: ended.signal });
    throw new Error("the last answers do not come");
  };
  try {
    return { report: await Promise.race([load.report, watch()]), samples };
  } catch (error) {
    const log = server.log().trimEnd().split("\n").slice(-LOG_LINES).join("\n");
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${log}`);
  } finally {
    ended.abort();
  }
}

function lineOf({ minute, mb, files }: Sample, { seconds, answers, errors, p99 }: RecentLoad): string {
  const slowest = Object.entries(p99).map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`);
  return [
    `minute ${minute.toFixed(1)}: ${Math.round(answers / seconds)}/s`,
    `${errors} errors`,
    `${Math.round(mb)} MB`,
    `${files} open files`,
    `p99 ms: ${slowest.join(", ")}`,
  ].join("; ");
}
