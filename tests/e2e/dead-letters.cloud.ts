import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type * as z from "zod";
import { type Page, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { deadLetterRecord } from "../../lib/workflows/dead-letters/dead-letters.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { deleteItem, newStack, sendRaw, startAwsServer, WEFT } from "./test-aws.ts";

const run = promisify(execFile);
/** Time for the five deliveries of a failing message to `dispatch`, with the pauses between them. */
const DEAD_LETTER_MAX_MS = 30_000;

const WORKFLOW = `
name: greet
triggers:
  - {name: on-guest, type: event, topic: custom.guest, input: {target: event_data.name}}
steps:
  - {name: hello, type: bash, command: "echo hello {{Target}}"}
`;

type Letters = Page<z.infer<typeof deadLetterRecord>>;

/** Runs `weft dead-letters` on the server's machine. Returns standard output. */
async function command(weft: TestServer, ...args: string[]): Promise<string> {
  const env = { ...process.env, WEFT_DATA_DIR: weft.dataDir };
  return (await run(process.execPath, [WEFT, "dead-letters", ...args], { env })).stdout;
}

/** Waits until the dead-letter queue of a queue has delivered a message, and returns its dead letter. */
async function letterOf(weft: TestServer, queue: string) {
  const delivered = (line: string): boolean =>
    line.includes('"message dead-lettered"') && line.includes(`"queue":"${queue}"`);
  await waitUntil(
    `a message in the dead-letter queue of ${queue}`,
    () => weft.log().split("\n").some(delivered),
    DEAD_LETTER_MAX_MS,
  );
  const { data } = await weft.get<Letters>("/dead-letters");
  const letter = data.find((one) => one.queue === queue);
  if (letter === undefined) throw new Error(`${queue} has no dead letter`);
  return letter;
}

/** Expects exactly one run, which completes and greets `name`. */
async function runOf(weft: TestServer, name: string): Promise<void> {
  const [run] = await waitUntil("the run", async () => {
    const { data } = await weft.get<Page<RunRecord>>("/runs?status=completed");
    return data.length > 0 && data;
  });
  expect((await weft.steps(run?.run_id ?? ""))["hello"]?.output.trim()).toBe(`hello ${name}`);
}

test("a malformed message becomes a dead letter and does not block other messages", async () => {
  const stack = newStack();
  await using weft = await startAwsServer(stack);
  await weft.storeWorkflow(WORKFLOW);
  await sendRaw(`${stack}-dispatch`, "this is no JSON");
  await weft.emit({ topic: "custom.guest", data: { name: "Ada" } });

  const letter = await letterOf(weft, "dispatch");
  expect(letter).toMatchObject({ body: "this is no JSON" });
  expect(letter.error).toMatch(/JSON/);
  expect(await command(weft)).toContain(letter.id);
  await runOf(weft, "Ada");
}, 90_000);

test("a dead-lettered event can be redriven after its cause is fixed, and its run completes", async () => {
  const stack = newStack();
  await using weft = await startAwsServer(stack);
  await weft.storeWorkflow(WORKFLOW);
  const putBack = await deleteItem(`${stack}-workflow-revisions`, "greet", "00000001");
  const { event_id } = await weft.emit({ topic: "custom.guest", data: { name: "Grace" } });
  const letter = await letterOf(weft, "dispatch");
  expect(JSON.parse(letter.body)).toMatchObject({ detail: { event_id: event_id.replace("evt_", "") } });
  const [waiting] = await weft.events({ topic: "custom.guest" });
  expect(waiting).toMatchObject({ processed: false, error: expect.stringMatching(/./) });

  await putBack();
  expect(await command(weft, "redrive", letter.id)).toBe(`redriven ${letter.id}\n`);
  await runOf(weft, "Grace");
  expect((await weft.get<Letters>("/dead-letters")).data).toEqual([]);
  const processed = async () => (await weft.events({ topic: "custom.guest", processed: "true" }))[0];
  expect(await waitUntil("the event to be processed", processed)).toMatchObject({ error: "" });
}, 90_000);
