import { execFile } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

const SECRET = "pa55/w+rd=?&%äß";
const FORMS = [
  SECRET,
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(SECRET).toString("base64url"),
  Buffer.from(`user:${SECRET}`).toString("base64").slice(8, 24),
  encodeURIComponent(SECRET),
];

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer({ files: { "secrets.env": `API_KEY='${SECRET}'\nOTHER=second-secret\n` } });
});
afterAll(() => weft[Symbol.asyncDispose]());

const answers = async (): Promise<string> => {
  const { data } = await weft.get<{ data: { run_id: string }[] }>("/runs?limit=100");
  const paths = [
    "/event-logs?limit=10000",
    "/runs?limit=100",
    "/workflows?limit=100",
    "/dead-letters",
    "/assets?limit=100",
  ];
  for (const { run_id } of data)
    paths.push(...["", "/steps", "/history", "/log"].map((tail) => `/runs/${run_id}${tail}`));
  return (await Promise.all(paths.map(async (path) => (await weft.call("GET", path)).text))).join("\n");
};

test("a secret reaches its step and is redacted elsewhere, also as base64 and in a URL", async () => {
  const received: string[] = [];
  const server = createServer((incoming, outgoing) => {
    received.push(incoming.headers.authorization ?? "", incoming.url ?? "");
    outgoing.end(`you said ${incoming.headers.authorization}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await weft.storeWorkflow(`name: spills
steps:
  - {name: shell, type: bash, log: "key {{secrets.API_KEY}}", command: "printf '%s' {{secrets.API_KEY}} | tee copy.txt; printf '%s' {{secrets.API_KEY}} | base64; printf 'user:%s' {{secrets.API_KEY}} | base64", exports: {kept: output}}
  - {name: size, type: bash, command: "wc -c < copy.txt"}
  - {name: code, type: function, function: 'log_info("{{secrets.API_KEY}}"); generate_event("w", "custom.spill", "", "", {key: "{{secrets.API_KEY}}", encoded: encodeURIComponent({{secrets.API_KEY}})}); "{{secrets.API_KEY}}"'}
  - {name: call, type: http, url: "${url}/?q={{secrets.API_KEY}}", headers: {Authorization: "Bearer {{secrets.OTHER}}"}}
  - {name: fails, type: bash, command: "echo {{secrets.API_KEY}} >&2; exit 1", on_error: [{action: export, name: why, value: "{{error}}"}, {action: log, message: "{{error}}"}, {action: continue}]}
  - {name: throws, type: function, function: 'throw new Error({{secrets.API_KEY}})'}
`);
  const run = await weft.run({ module: "spills" });
  server.close();
  const steps = await weft.steps(run.run_id);
  expect(steps["size"]?.output).toBe(String(Buffer.byteLength(SECRET)));
  expect(received[0]).toBe("Bearer second-secret");
  expect(new URL(received[1] ?? "", url).searchParams.get("q")).toBe(SECRET);
  expect(steps["call"]).toMatchObject({ status: "completed", output: "you said Bearer ***" });
  expect(run.status).toBe("failed");
  expect(run.error_message).toContain("***");
  const output = `${await answers()}\n${weft.log()}`;
  for (const form of [...FORMS, "second-secret"]) expect(output.includes(form)).toBe(false);
  const [spill] = await weft.events({ topic: "custom.spill" });
  expect(JSON.parse(spill?.data ?? "")).toEqual({ key: "***", encoded: "***" });
});

test("a secret in an event is redacted in the log", async () => {
  await weft.emit({
    topic: "custom.in",
    data: { text: `got ${SECRET}`, url: `https://h/?k=${encodeURIComponent(SECRET)}` },
  });
  const [event] = await weft.events({ topic: "custom.in" });
  expect(JSON.parse(event?.data ?? "")).toEqual({ text: "got ***", url: "https://h/?k=***" });
});

test("the access token is redacted, and its file is readable by the owner only", async () => {
  await weft.storeWorkflow("name: token\nsteps: [{name: s, type: bash, command: 'echo {{Target}}'}]");
  const run = await weft.run({ module: "token", target: `tok ${weft.token}` });
  expect((await weft.steps(run.run_id))["s"]?.output).toBe("tok ***");
  const { stdout } = await promisify(execFile)("stat", ["-c", "%a", join(weft.dataDir, "access-token")]);
  expect(stdout.trim()).toBe("600");
});

test("an unknown secret fails the step with its name", async () => {
  await weft.storeWorkflow(
    "name: absent\nsteps: [{name: s, type: bash, command: 'echo {{secrets.NOT_THERE}}'}]",
  );
  expect((await weft.run({ module: "absent" })).error_message).toBe("unknown secret: NOT_THERE");
});

test("a changed secrets file is reloaded; one that others can read is rejected", async () => {
  const path = join(weft.dataDir, "secrets.env");
  const before = await readFile(path, "utf8");
  await writeFile(path, `${before}LATER=later-secret\n`);
  await weft.storeWorkflow(
    "name: later\nsteps: [{name: s, type: bash, command: 'echo {{secrets.LATER}} | wc -c'}]",
  );
  const run = await weft.run({ module: "later" });
  expect((await weft.steps(run.run_id))["s"]?.output).toBe("13");
  await chmod(path, 0o644);
  const refused = await weft.run({ module: "later" });
  expect([refused.status, refused.error_message]).toEqual(["failed", expect.stringMatching(/chmod 600/)]);
});
