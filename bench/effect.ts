import { existsSync, type FSWatcher, mkdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { median, percentile } from "./harness/numbers.ts";
import { RawConnection, rawRequest } from "./harness/raw-http.ts";
import { startServer } from "./harness/server.ts";
import { spawnMs } from "./harness/start.ts";
import { markWorkflow } from "./harness/workflows.ts";

const EMITS = 200;
const APART_MS = 100;
const WARM_UP = 10;
const SHELL_ROUNDS = 50;
const EFFECT_MAX_MS = 20_000;

await runBenchmark({
  name: "effect",
  what: "Emit with a match, to what its bash step does (a file)",
  peer: "p50 6.0 ms, p99 12.8 ms",
  measure: async ({ brief }) => {
    const marks = createTemporaryFolder("marks");
    const server = await startServer();
    await server.storeWorkflow(markWorkflow("mark", "custom.mark", marks));
    const connection = await RawConnection.open(server.port);
    await using seen = effects(marks);
    const acks: number[] = [];
    const times: number[] = [];
    const count = brief ? WARM_UP : EMITS;
    for (let number = -WARM_UP; number < count; number += 1) {
      const body = JSON.stringify({ topic: "custom.mark", data: { seq: `m${number + WARM_UP}` } });
      const request = rawRequest("POST", "/automation/events/emit", { token: server.token, body });
      const effect = seen.of(`m${number + WARM_UP}`);
      const sentAt = performance.now();
      const { status } = await connection.send(request);
      const ackedAt = performance.now();
      if (status !== 200) throw new Error(`an emit answered ${status}`);
      const doneAt = await effect;
      if (number >= 0) {
        acks.push(ackedAt - sentAt);
        times.push(doneAt - sentAt);
      }
      await sleep(APART_MS);
    }
    connection.close();
    const shell: number[] = [];
    const folder = createTemporaryFolder("touch");
    for (let round = 0; round < (brief ? 2 : SHELL_ROUNDS); round += 1)
      shell.push(await spawnMs("bash", ["-c", `touch ${join(folder, `${round}`)}`]));
    return {
      figures: [
        { what: "p50", value: percentile(times, 0.5), unit: "ms", target: 5 },
        { what: "p99", value: percentile(times, 0.99), unit: "ms", target: 10 },
        { what: "acknowledged, p50", value: percentile(acks, 0.5), unit: "ms", target: 1.2 },
        { what: "acknowledged, p99", value: percentile(acks, 0.99), unit: "ms" },
      ],
      baseline: { spawned_bash_touch_ms: median(shell) },
      details: { emits: count },
    };
  },
});

interface Effects extends AsyncDisposable {
  /** Resolves with the time at which the file appeared, by `performance.now()`. Rejects if it does not appear. */
  of(name: string): Promise<number>;
}

function effects(folder: string): Effects {
  mkdirSync(folder, { recursive: true });
  const waiting = new Map<string, (at: number) => void>();
  const watcher: FSWatcher = watch(folder, (_event, name) => {
    if (name !== null) waiting.get(name)?.(performance.now());
  });
  return {
    of: (name) => {
      const late = sleep(EFFECT_MAX_MS, undefined, { ref: false }).then(() => {
        if (!existsSync(join(folder, name))) throw new Error(`the effect ${name} did not come`);
        throw new Error(`the effect ${name} was not noticed`);
      });
      const came = new Promise<number>((resolve) => waiting.set(name, resolve));
      return Promise.race([came, late]).finally(() => waiting.delete(name));
    },
    [Symbol.asyncDispose]: async () => watcher.close(),
  };
}
