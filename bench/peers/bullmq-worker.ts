/** A worker of BullMQ: a job is a bash command, or a sequence of steps, each of which is a job that adds the next. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { BullMq, Job, Queue } from "./bullmq-types.ts";

const [installed = "", path = "", concurrency = ""] = process.argv.slice(2);
const { Queue: JobQueue, Worker } = createRequire(join(installed, "package.json"))("bullmq") as BullMq;
const connection = { path, maxRetriesPerRequest: null };
const steps: Queue = new JobQueue("steps", { connection });

function runBash(command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], { stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}`))));
  });
}

async function runStep({ data }: Job): Promise<void> {
  await runBash("true");
  const left = (data.left ?? 1) - 1;
  if (left > 0) await steps.add("step", { ...data, left });
}

const workers = [
  new Worker("effects", ({ data }) => runBash(data.command ?? "true"), {
    connection,
    concurrency: Number(concurrency),
  }),
  new Worker("steps", runStep, { connection }),
];
for (const worker of workers) worker.on("error", () => {});
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
process.send?.("ready");
