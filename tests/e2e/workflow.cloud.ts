import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
const WAIT_MS = 45_000;

const WORKFLOW = `
name: greet
triggers:
  - {name: on-guest, type: event, topic: "custom.guest.*", input: {target: event_data.name}}
steps:
  - {name: hello, type: bash, command: "echo \\"hello {{Target}}\\"", exports: {greeting: output}}
  - {name: loud, type: function, function: 'to_upper_case("{{greeting}}")'}
  - name: each
    type: foreach
    input: [a, b, c]
    variable: x
    step: {name: item, type: bash, command: "echo {{loud_output}} [[x]]"}
`;

/** Starts a server on its own stack at the endpoint; the server creates missing resources. */
function start(stack: string): Promise<TestServer> {
  return startTestServer({
    program: [process.execPath, WEFT, "start", "--localstack"],
    env: { WEFT_STACK: stack },
  });
}

async function finished(weft: TestServer, count: number): Promise<readonly string[]> {
  const done = await waitUntil(
    `${count} finished runs`,
    async () => {
      const { data } = await weft.get<{ data: { run_id: string; status: string }[] }>(
        "/runs?status=completed",
      );
      return data.length >= count && data;
    },
    WAIT_MS,
  );
  return done.map(({ run_id }) => run_id);
}

test("events, runs and the log are stored in AWS services and available to the next server", async () => {
  const stack = `weft-${randomUUID().slice(0, 8)}`;
  await using first = await start(stack);
  await first.storeWorkflow(WORKFLOW);
  const guests = ["Ada", "$(id); 'x", "Grace"];
  for (const name of guests) {
    const answer = await first.emit({ topic: "custom.guest.new", data: { name } });
    expect(answer.triggered_workflows).toEqual(["greet"]);
  }
  const unmatched = await first.emit({ topic: "custom.other" });
  expect((await first.events({ topic: "custom.other" })).map(({ event_id }) => `evt_${event_id}`)).toEqual([
    unmatched.event_id,
  ]);

  const runs = await finished(first, guests.length);
  const outputs = await Promise.all(runs.map(async (id) => (await first.steps(id))["each"]?.output));
  const expected = guests.map((name) =>
    ["a", "b", "c"].map((x) => `HELLO ${name.toUpperCase()} ${x}`).join("\n"),
  );
  expect(outputs.toSorted()).toEqual(expected.toSorted());
  await waitUntil(
    "all events processed",
    async () => (await first.events({ processed: "false" })).length === 0,
    WAIT_MS,
  );
  const log = await first.events();
  expect(log.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(log.map((_, index) => index + 1));
  expect(log.filter(({ topic }) => topic === "run.completed")).toHaveLength(guests.length);
  expect(await first.stop()).toBe(0);

  await using second = await start(stack);
  expect(await second.events()).toEqual(log);
  await second.emit({ topic: "custom.guest.new", data: { name: "Alan" } });
  expect(await finished(second, guests.length + 1)).toHaveLength(guests.length + 1);
}, 120_000);
