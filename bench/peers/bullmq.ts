import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { addCleanup } from "../harness/cleanup.ts";
import type { BullMq, Queue } from "./bullmq-types.ts";
import { installFromNpm } from "./installation.ts";
import { CONCURRENCY, effectCommand, type Peer } from "./peer.ts";
import { installRedis, killed, startRedis } from "./redis.ts";

const WORKER = fileURLToPath(new URL("./bullmq-worker.ts", import.meta.url));
const LOOK_EVERY_MS = 5;

const ready = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("exit", () => reject(new Error("the worker of BullMQ ended")));
  });

function bullMq(durability: string, redisOptions: readonly string[]): Peer {
  return {
    name: "BullMQ",
    durability,
    install: async (folder) => {
      const redis = await installRedis(join(folder, "redis"));
      return `${await installFromNpm(join(folder, "npm"), ["bullmq", "ioredis"])}, Redis ${redis}`;
    },
    start: async ({ installed, data, journal }) => {
      const redis = await startRedis(join(installed, "redis"), data, redisOptions);
      const npm = join(installed, "npm");
      const { Queue: JobQueue } = createRequire(join(npm, "package.json"))("bullmq") as BullMq;
      const connection = { path: redis.path, maxRetriesPerRequest: null };
      const open = (name: string): Queue => {
        const queue = new JobQueue(name, { connection });
        queue.on("error", () => {});
        addCleanup(() => void queue.close().catch(() => {}));
        return queue;
      };
      const [effects, steps] = [open("effects"), open("steps")];
      let worker: ChildProcess;
      const startWorker = async (): Promise<void> => {
        worker = fork(WORKER, [npm, redis.path, `${CONCURRENCY}`], {
          stdio: ["ignore", "ignore", "inherit", "ipc"],
        });
        await ready(worker);
      };
      await startWorker();
      addCleanup(() => worker.kill("SIGKILL"));
      return {
        emit: async (seq) => void (await effects.add("effect", { command: effectCommand(journal, seq) })),
        runSteps: async (count) => {
          const before = await completed(steps);
          const started = performance.now();
          await steps.add("step", { left: count });
          while ((await completed(steps)) - before < count) await sleep(LOOK_EVERY_MS);
          return performance.now() - started;
        },
        kill: async () => {
          await Promise.all([killed(worker), redis.kill()]);
        },
        restart: async () => {
          await redis.start();
          await startWorker();
        },
      };
    },
  };
}

async function completed(queue: Queue): Promise<number> {
  const { completed: count = 0 } = await queue.getJobCounts("completed");
  return count;
}

export const bullMqDurable = bullMq("on disk when acknowledged (appendfsync always)", [
  "--appendonly",
  "yes",
  "--appendfsync",
  "always",
]);
export const bullMqDefault = bullMq("Redis's defaults: snapshots every minute or less often", []);
