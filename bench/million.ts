import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { openFilledFolder } from "./harness/filled.ts";
import { median } from "./harness/numbers.ts";
import { memoryOf } from "./harness/processes.ts";
import { RawConnection, rawRequest } from "./harness/raw-http.ts";
import { eventDraft } from "./harness/records.ts";
import { BENCH_TOKEN, startTimed } from "./harness/start.ts";

const EVENTS = 1_000_000;
const ROUNDS = 5;
const BYTES_PER_MB = 1024 * 1024;
const READY = "/health/ready";
const LIST = "/automation/event-logs?limit=20";

await runBenchmark({
  name: "million",
  what: "One million events: size of the data folder; restart to the first 200 of /health/ready",
  peer: "-",
  measure: async ({ brief }) => {
    const events = brief ? 2_000 : EVENTS;
    const dataDir = await openFilledFolder("events", events);
    const bytes = bytesIn(dataDir);
    const killed: number[] = [];
    const stopped: number[] = [];
    const empty: number[] = [];
    let memory = 0;
    let firstList = 0;
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      const bare = await startTimed(createTemporaryFolder("empty"), READY);
      empty.push(bare.ms);
      await bare.stop("SIGTERM");
      const clean = await startTimed(dataDir, READY);
      stopped.push(clean.ms);
      firstList = await checkedList(clean.port, events);
      memory = memoryOf(clean.pid).mb;
      await clean.stop("SIGKILL");
      const after = await startTimed(dataDir, READY);
      killed.push(after.ms);
      await checkedList(after.port, events);
      await after.stop("SIGTERM");
    }
    const draft = JSON.stringify(eventDraft(1));
    return {
      figures: [
        { what: "restart after kill -9 to ready", value: median(killed), unit: "ms", target: 1_500 },
        { what: "restart after a stop to ready", value: median(stopped), unit: "ms", target: 1_500 },
        { what: "the first page of the log after that", value: firstList, unit: "ms" },
        { what: "data folder", value: bytes / BYTES_PER_MB, unit: "MB" },
        { what: "data folder, an event", value: bytes / events, unit: "bytes" },
        { what: "memory after the first page", value: memory, unit: "MB" },
      ],
      baseline: { empty_folder_ms: median(empty), event_as_emitted_bytes: draft.length },
      details: { events },
    };
  },
});

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
}

/** Time of the newest page. Throws if the log does not contain all events. */
async function checkedList(port: number, events: number): Promise<number> {
  const connection = await RawConnection.open(port);
  const sentAt = performance.now();
  const { body } = await connection.send(rawRequest("GET", LIST, { token: BENCH_TOKEN }));
  const ms = performance.now() - sentAt;
  connection.close();
  const { pagination } = JSON.parse(body.toString()) as { pagination: { total: number } };
  if (pagination.total !== events) throw new Error(`the log counts ${pagination.total} of ${events} events`);
  return ms;
}
