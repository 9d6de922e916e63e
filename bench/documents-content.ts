import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { stateOf } from "./harness/document-content.ts";
import { idOf } from "./harness/document-data.ts";
import {
  createToken,
  FiguresBySize,
  forEachSize,
  measureRequests,
  secondsOf,
} from "./harness/document-requests.ts";
import { measureEcho } from "./harness/echo.ts";
import { peakOf } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const MB = 1_000_000;
const PATCH_MS = 30;
const GET_MS = 12;
const LARGE = 20 * MB;
const LARGE_MB = 60;
const ROUNDS = 3;
const SETTLE_MS = 2_000;

await runBenchmark({
  name: "documents-content",
  what: "Content of 1 MB, states of Yjs: saved and read over one connection, p50; memory for 20 MB",
  peer: "199 and 116 ms",
  measure: async ({ brief }) => {
    const seconds = secondsOf(brief);
    const bodies = [0, 1].map((seed) => JSON.stringify({ content: stateOf(MB, seed).toString("base64") }));
    const [body = ""] = bodies;
    const put = { name: "put", method: "PUT", path: "/", body };
    const echo = await measureEcho({ connections: 1, kinds: [put], seconds, warmUp: 20 });
    const sized = new FiguresBySize();
    await forEachSize(brief, async (server, data, size) => {
      const token = await createToken(server, "few");
      const path = `/api/v1.0/documents/${idOf(data.hub)}/content/`;
      const [one, other] = bodies.map((body) => ({ method: "PATCH", path, body, expect: 204 }));
      if (one === undefined || other === undefined) return;
      const save = { name: "saved", token, target: PATCH_MS, peer: "199 ms", isWrite: true } as const;
      const saved = { ...save, kinds: [one, other] } as const;
      sized.add(saved, size, await measureRequests(server, saved, seconds));
      const get = { name: "read", token, target: GET_MS, peer: "116 ms" };
      const read = { ...get, kinds: [{ method: "GET", path }] } as const;
      sized.add(read, size, await measureRequests(server, read, seconds));
    });
    const memory = await memoryOfLarge(brief);
    return {
      figures: [
        ...sized.all(),
        { what: "saved, 20 MB: more memory at most", value: memory.saved, unit: "MB", target: LARGE_MB },
        { what: "read, 20 MB: more memory at most", value: memory.read, unit: "MB", target: LARGE_MB },
      ],
      baseline: { echo_of_1_mb_p50_ms: echo.p50, echo_of_1_mb_cpu_us: echo.cpuUs },
      details: sized.details,
    };
  },
});

/** Peak memory of all processes above the level before the request, MB, on a server that is already warm. */
async function memoryOfLarge(brief: boolean): Promise<{ saved: number; read: number }> {
  const server = await startServer();
  const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
  const path = `//api/v1.0/documents/${(created.json as { id: string }).id}/content/`;
  await save(server, path, stateOf(MB / 100, 0));
  await server.call("GET", path);
  const most = { saved: 0, read: 0 };
  for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
    const state = stateOf(brief ? MB : LARGE, round);
    await sleep(brief ? 0 : SETTLE_MS);
    const saving = peakOf(server.pid);
    await save(server, path, state);
    most.saved = Math.max(most.saved, saving());
    await sleep(brief ? 0 : SETTLE_MS);
    const reading = peakOf(server.pid);
    const { text } = await server.call("GET", path);
    most.read = Math.max(most.read, reading());
    if (text !== state.toString("base64")) throw new Error("what was read is not what was saved");
  }
  await server.stop();
  return most;
}

async function save(server: Server, path: string, state: Buffer): Promise<void> {
  const body = { content: state.toString("base64") };
  const { status } = await server.call("PATCH", path, { body });
  if (status !== 204) throw new Error(`saving answered ${status}`);
}
