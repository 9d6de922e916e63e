import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventStreams } from "#lib/http/event-streams.ts";
import type { Handler } from "#lib/http/handler.ts";
import type { Route } from "#lib/http/route.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { type CallResult, call } from "#lib/testing/test-handler-call.ts";
import { storeWorkflow } from "#lib/testing/test-workflows.ts";

/** Hostile input for every endpoint, in every parameter and body. */
const FOLDER = new URL("./", import.meta.url);
const LONG = "x".repeat(20_000);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

const TEXTS = [
  "../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "%252e%252e%252f",
  "..\\..\\x",
  "/etc/passwd",
  "a\0b",
  "con",
  "\u2024\u2024/x",
  "ws1/../ws2/x",
  LONG,
  "x; id",
  "$(id)",
  "`id`",
  "a\nb",
  "-oProxyCommand=id",
  "{{secrets.A}}",
  "[[x]]",
  "__proto__",
  "constructor",
  "(a+)+$",
  "*a*a*a*a*b",
  "{1000}{1000}",
  "[".repeat(10_000),
  "%",
  "\ud800",
  "NaN",
  "-1",
  "1e9",
  "10001",
  "0x10",
  "' OR 1=1 --",
  "<svg onload=1>",
];
const VALUES: readonly unknown[] = [
  ...TEXTS,
  null,
  -1,
  1.5,
  1e308,
  true,
  [],
  {},
  [[]],
  ["../x"],
  { __proto__: null, constructor: { prototype: {} } },
];
const BODIES = [
  "",
  "null",
  "[]",
  '"text"',
  "0",
  "{",
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  nested(20_000),
  `{"a":${nested(20_000)}}`,
  '{"a":1,"a":2}',
  "\ufeff{}",
  "name: w\nsteps: &a [*a]\n",
  `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghi"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[at]}`).join(",")}]`).join("\n")}\n`,
  `name: w\nsteps:\n${"  - !!js/function 'x'\n"}`,
  `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
  "name: w\nname: v\nsteps: []\n",
  "<<: {a: 1}\nname: w\n",
  `name: ${"s".repeat(500_000)}\n`,
];

interface Endpoint {
  readonly file: string;
  readonly route: Route;
  readonly handler: Handler;
}

const endpoints: Endpoint[] = [];
for (const file of readdirSync(FOLDER, { recursive: true }).map(String).toSorted()) {
  if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
  const module = (await import(new URL(file, FOLDER).href)) as Omit<Endpoint, "file">;
  endpoints.push({ file, route: module.route, handler: module.handler });
}

/** The names that a path segment accepts. */
function namesOf(schema: unknown): string[] {
  const { shape, def } = (schema ?? {}) as { shape?: object; def?: { innerType?: unknown; in?: unknown } };
  if (shape !== undefined) return Object.keys(shape);
  const inner = def?.innerType ?? def?.in;
  return inner === undefined ? [] : namesOf(inner);
}

/** The responses. */
const statuses = new Set<number>();
/** Long enough for a first event. */
const STREAM_MS = 20;
let test: TestDeps;
beforeAll(async () => {
  const opened = await testDeps();
  const eventStreams = new EventStreams({ durationMs: STREAM_MS });
  test = { ...opened, deps: { ...opened.deps, eventStreams } };
  await storeWorkflow(test.deps, "name: w\nsteps: [{name: a, type: bash, command: x}]\n");
});
afterAll(() => test.close());

/** Every response has a documented status and format, and reveals nothing of this machine. */
function check(sent: unknown, { status, text, headers }: CallResult): void {
  statuses.add(status);
  const shown = JSON.stringify(sent)?.slice(0, 300);
  expect([shown, status < 500 || status === 503]).toEqual([shown, true]);
  if (status >= 400) expect(JSON.parse(text)).toMatchObject({ error: true, message: expect.any(String) });
  const told = status >= 400 ? text : "";
  for (const ours of [test.folder, "node_modules", "    at ", ".ts:"]) expect(told).not.toContain(ours);
  expect(({} as Record<string, unknown>).admin).toBeUndefined();
  expect(JSON.stringify(headers)).not.toMatch(/\r|\n/);
}

const paramsOf = ({ path }: Route): string[] =>
  [...path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name = ""]) => name);
const plain = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));

describe.each(endpoints.map((endpoint) => [endpoint.file, endpoint] as const))(
  "%s",
  (_file, { route, handler }) => {
    const params = paramsOf(route);
    const send = async (parts: Parameters<typeof call>[2]) =>
      check(parts, await call(test.deps, handler, parts));

    it("handles every path, query and page", async () => {
      for (const name of params)
        for (const text of TEXTS) await send({ params: { ...plain(params), [name]: text } });
      for (const name of namesOf(route.query))
        for (const text of TEXTS) await send({ params: plain(params), query: { [name]: text } });
    });

    it("handles every body", async () => {
      if (route.body === undefined) return;
      const type =
        route.bodyKind === "json" || route.bodyKind === undefined
          ? "application/json"
          : (route.bodyTypes?.[0] ?? "");
      const headers = { "content-type": type };
      for (const body of BODIES) await send({ params: plain(params), headers, body });
      const names = namesOf(route.body);
      for (const name of names)
        for (const value of VALUES)
          await send({ params: plain(params), headers, body: { ...required(names), [name]: value } });
    });
  },
);

/** Required fields, without which other fields are not validated. */
function required(names: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = {
    name: "s",
    workflow_name: "w",
    schedule: "0 0 * * *",
    topic: "custom.x",
    module: "w",
    target: "t",
    script: "1",
    workspace: "w",
    messages: [{ role: "user", content: "x" }],
    input: ["x"],
    yaml: "name: w",
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

it("limits pages: a negative or invalid number is 400 with the field named, a large one is the maximum", async () => {
  const lists = endpoints.filter(
    ({ route }) => namesOf(route.query).includes("limit") && paramsOf(route).length === 0,
  );
  expect(lists.length).toBeGreaterThan(8);
  for (const { file, handler } of lists) {
    for (const [name, value] of [
      ["limit", "-1"],
      ["limit", "NaN"],
      ["limit", "1e9"],
      ["limit", "1.5"],
      ["offset", "-1"],
      ["offset", "1e9"],
      ["offset", "NaN"],
    ] as const) {
      const { status, json } = await call(test.deps, handler, { query: { [name]: value } });
      expect([file, name, value, status]).toEqual([file, name, value, 400]);
      expect(json.message).toContain(name);
    }
    for (const [offset, limit] of [
      ["1000000000", "10001"],
      ["99999999999999999999", "99999999999999999999"],
    ] as const) {
      const { status, json } = await call(test.deps, handler, { query: { offset, limit } });
      expect([file, status, json]).toMatchObject([file, 200, { data: [], pagination: { limit: 10_000 } }]);
    }
  }
});

const CRON = "/5 * * * *";
describe("a schedule", () => {
  const make = endpoints.find(({ file }) => file === "schedules/create.ts");
  it.each([
    "*/0 * * * *",
    "60 * * * *",
    "* 24 * * *",
    "0 0 30 2 *",
    "0 0 31 4,6,9,11 *",
    "0 0 0 * *",
    "* * * *",
    "* * * * * *",
    "@yearly-ish",
    "1-60 * * * *",
    "5-1 * * * *",
    "*/61 * * * *",
    "1,,2 * * * *",
    "\0 * * * *",
    `${Array(5_000).fill("1").join(",")} * * * *`,
    `${"*".repeat(4_000)} * * * *`,
    "0 0 * 13 *",
    "0 0 * * 9",
  ])("of %j never fires, and is rejected", async (schedule) => {
    const body = { name: "s", workflow_name: "w", schedule, enabled: true };
    const answer = await call(test.deps, make?.handler as Handler, { body });
    expect([schedule.slice(0, 40), answer.status]).toEqual([schedule.slice(0, 40), 400]);
    expect(answer.json.message).toMatch(/schedule/);
  });

  it("passes its target and parameters to commands as data", async () => {
    const own = await testDeps();
    try {
      await storeWorkflow(
        own.deps,
        'name: v\nsteps: [{name: a, type: bash, command: "echo {{target}} {{depth}}"}]\n',
      );
      const hostile = ["x; id", "$(id)", "`id`", "a\nb", "-oProxyCommand=x", "{{RunID}}", "[[x]]"];
      for (const target of hostile) {
        const body = {
          name: "s",
          workflow_name: "v",
          schedule: `*${CRON}`,
          target,
          params: { depth: target },
        };
        const { json } = await call(own.deps, make?.handler as Handler, { body });
        const trigger = endpoints.find(({ file }) => file === "schedules/trigger.ts");
        const params = { id: json.data.id };
        expect((await call(own.deps, trigger?.handler as Handler, { params })).status).toBe(202);
      }
      await own.drain();
      const commands = own.commands.map(({ argv, env }) => [argv.at(-1), env.W1]);
      expect(commands.toSorted()).toEqual(
        hostile.map((target) => ['echo "${W1}" "${W1}"', target]).toSorted(),
      );
    } finally {
      await own.close();
    }
  });
});

it.each([
  ["gopher://127.0.0.1:6379/_INFO", /http or https/],
  ["file:///etc/passwd", /http or https/],
  ["javascript:alert(1)", /http or https/],
  ["http://169.254.169.254/latest/meta-data/", /metadata/],
  ["http%3A%2F%2F169.254.169.254%2F", /not a URL/],
  ["http:%252f%252f169.254.169.254", /fail|refused|metadata|resolve|URL/i],
  ["http://[::ffff:a9fe:a9fe]/", /metadata/],
  ["http://[fd00:ec2::254]/", /metadata/],
  ["http://169.254.100.1/", /metadata/],
  ["http://2130706433:1/", /private address/],
  ["http://[::127.0.0.1]:1/", /private address/],
])("rejects a step's request to %s, given as data", async (url, message) => {
  const own = await testDeps({ settings: { HTTP_STEP_PRIVATE_ADDRESSES: "deny" } });
  try {
    await storeWorkflow(
      own.deps,
      'name: v\nsteps: [{name: a, type: http, url: "{{url | raw}}", timeout: 5}]\n',
    );
    const create = endpoints.find(({ file }) => file === "runs/create.ts");
    const body = { module: "v", target: "t", params: { url } };
    const { json, status } = await call(own.deps, create?.handler as Handler, { body });
    expect([status, json.message]).toEqual([202, json.message]);
    await own.drain();
    const get = endpoints.find(({ file }) => file === "runs/get.ts");
    const run = await call(own.deps, get?.handler as Handler, {
      params: { id: json.run_id ?? json.run_uuid },
    });
    expect(run.json.data ?? run.json).toMatchObject({
      status: "failed",
      error_message: expect.stringMatching(message),
    });
  } finally {
    await own.close();
  }
});

it("all endpoints were called, and responded with success and with errors", async () => {
  expect(endpoints.length).toBeGreaterThan(60);
  expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200, 201, 202, 400, 404]));
});
