import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestRunner, type TestRunner } from "../../platform/embedded/runner/test-runner.ts";

let runner: TestRunner;
let server: Server;
let origin: string;
const asked: { method: string; url: string; body: string; headers: Record<string, unknown> }[] = [];

beforeAll(async () => {
  runner = await startTestRunner();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      asked.push({ method, url, body: Buffer.concat(chunks).toString(), headers });
      if (url === "/busy" && asked.filter((one) => one.url === url).length < 3) response.writeHead(503).end();
      else if (url === "/away")
        response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
      else if (url === "/endless") response.write("x");
      else response.writeHead(url === "/none" ? 404 : 200, { "x-made": "here" }).end(`seen ${url}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await runner.close();
});

const allowed = { network: { privateAddresses: "allow", loopback: "as private" } } as const;
const at = (path: string): string => join(runner.folder, path);
async function value(code: string, options: Parameters<TestRunner["script"]>[1] = {}): Promise<unknown> {
  const outcome = await runner.script(code, options);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.value;
}

describe("requests of a script", () => {
  test("return the response", async () => {
    expect(await value(`http_get(${JSON.stringify(`${origin}/a`)})`, allowed)).toMatchObject({
      status_code: 200,
      error: false,
      message: "",
      response_headers: { "x-made": "here" },
      response_body: "seen /a",
      content_length: 7,
    });
    expect(await value(`httpPost("${origin}/b", { a: 1 }).status_code`, allowed)).toBe(200);
    expect(asked.at(-1)).toMatchObject({
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json" },
    });
    expect(await value(`http_request("${origin}/none", "put", { "x-a": "1" }, "t")`, allowed)).toMatchObject({
      statusCode: 404,
      body: "seen /none",
      error: "",
    });
    expect(asked.at(-1)).toMatchObject({ method: "PUT", body: "t", headers: { "x-a": "1" } });
  });

  test("are retried when the server is busy, if they are idempotent", async () => {
    expect(await value(`http_get("${origin}/busy").status_code`, allowed)).toBe(200);
    asked.length = 0;
    expect(await value(`http_post("${origin}/busy", "x").status_code`, allowed)).toBe(503);
    expect(asked.length).toBe(1);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://metadata.google.internal/",
    "file:///etc/passwd",
    "gopher://x/",
    "not an address",
  ])("never reach %s", async (url) => {
    expect(await value(`http_get(${JSON.stringify(url)})`, allowed)).toMatchObject({
      status_code: 0,
      error: true,
      message: expect.stringMatching(/steps may not connect|must be http or https/),
    });
  });

  test.each([
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0/",
    "http://[::1]/",
    "http://localhost./",
    "http://10.0.0.1/",
  ])("reach %s only if private addresses are allowed", async (url) => {
    expect(await value(`http_request(${JSON.stringify(url)}, "GET").error`)).toMatch(
      /steps may not connect|HTTP_STEP_PRIVATE|the host does not exist/,
    );
  });

  test("follow no redirect to a metadata service", async () => {
    expect(await value(`http_get("${origin}/away").message`, allowed)).toContain("steps may not connect");
  });

  test("end at the script's timeout", async () => {
    const started = performance.now();
    const outcome = await runner.script(`http_get("${origin}/endless")`, { ...allowed, timeoutMs: 500 });
    expect(outcome).toMatchObject({ ok: false, reason: "timeout" });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await value("1 + 1")).toBe(2);
  });

  test("resolve names to addresses", async () => {
    expect(await value('get_ip("http://localhost:1/x")')).toMatch(/^(?:127\.0\.0\.1|::1)$/);
    expect(await value('get_ip("no-such-host.invalid")')).toBe("");
  });
});

describe("a report", () => {
  test("contains values and results of code", async () => {
    writeFileSync(
      at("template.md"),
      "# {{ target }} {{missing}}\n```osm-func\nconst n = file_length('hosts');\nn + ' hosts'\n```\nUpper: `to_upper_case(target)`{.osm-func}, `jq('{\"a\":2}', '.a')`{.osm-func}\n`throw new Error('a --> b')`{.osm-func} `code` {{ 1 + 1 }}\n",
    );
    writeFileSync(at("hosts"), "a\nb\n");
    expect(
      await value('const made = renderMarkdownReport("template.md", "deep/report.md"); made', {
        variables: { target: "a|b $& `id`" },
      }),
    ).toBe(true);
    expect(readFileSync(at("deep/report.md"), "utf8")).toBe(
      "# a|b $& `id` {{missing}}\n2 hosts\nUpper: A|B $& `ID`, 2\n<!-- ERROR: Error: a - -> b --> `code` {{ 1 + 1 }}\n",
    );
    expect(await value('generate_security_report("template.md")', { variables: { target: "x" } })).toBe(true);
    expect(readFileSync(at("security-report.md"), "utf8")).toContain("# x");
    expect(await value('render_markdown_report("nowhere.md", "x.md")')).toBe(false);
  });

  test("may contain reports, and endless code in it ends at the script's timeout", async () => {
    writeFileSync(at("inner.md"), "inner {{n}}");
    writeFileSync(
      at("outer.md"),
      "`render_markdown_report('inner.md', 'inner-out.md') && read_file('inner-out.md')`{.osm-func}",
    );
    await value('render_markdown_report("outer.md", "outer-out.md")', { variables: { n: 7 } });
    expect(readFileSync(at("outer-out.md"), "utf8")).toBe("inner 7\n");
    writeFileSync(at("loop.md"), "`for (;;);`{.osm-func}");
    expect(
      await runner.script('render_markdown_report("loop.md", "x.md")', { timeoutMs: 300 }),
    ).toMatchObject({
      ok: false,
      reason: "timeout",
    });
    expect(await value("1 + 1")).toBe(2);
  });
});

test("converts a SARIF file and JSON lines to tables, and Markdown to text", async () => {
  mkdirSync(at("md"), { recursive: true });
  const result = (ruleId: string, level: string, line: number) => ({
    ruleId,
    level,
    message: { text: `found | ${ruleId}\nhere <b>` },
    locations: [{ physicalLocation: { artifactLocation: { uri: "src/a.ts" }, region: { startLine: line } } }],
  });
  const driver = { name: "tool", rules: [{ id: "R1", shortDescription: { text: "Rule one" } }] };
  const sarif = {
    runs: [{ tool: { driver }, results: [result("R2", "note", 0), result("R1", "error", 3)] }],
  };
  writeFileSync(at("md/in.sarif"), JSON.stringify(sarif));
  writeFileSync(at("md/in.jsonl"), '{"a":"x|y","b":{"c":1}}\n{"a":null,"d":"<i>"}\n');
  writeFileSync(
    at("md/in.md"),
    "# Title\n\n- **one** [site](https://a.example)\n\n```\n# code\n```\n> said `x`\n",
  );
  expect(
    await value(
      'convert_sarif_to_markdown("md/in.sarif", "md/s.md") && convert_jsonl_to_markdown("md/in.jsonl", "md/j.md")',
    ),
  ).toBe(true);
  expect(readFileSync(at("md/s.md"), "utf8").split("\n").slice(-4)).toEqual([
    "| --- | --- | --- | --- |",
    "| high | src/a.ts:3 | Rule one | found \\| R1 here &lt;b> |",
    "| low | src/a.ts | R2 | found \\| R2 here &lt;b> |",
    "",
  ]);
  expect(readFileSync(at("md/j.md"), "utf8")).toBe(
    '| a | b | d |\n| --- | --- | --- |\n| x\\|y | {"c":1} |  |\n|  |  | &lt;i> |\n',
  );
  expect(await value('render_markdown_from_file("md/in.md")')).toBe(
    "Title\n\n• one site (https://a.example)\n\n    # code\n│ said x\n",
  );
  expect(await value('convert_sarif_to_markdown("md/in.md", "md/x.md")')).toBe(false);
});

test("packs and unpacks an archive while the script waits", async () => {
  writeFileSync(at("pack.txt"), "packed");
  expect(
    await value(
      'zip_dir("pack.txt", "pack.zip") && extract_to("pack.zip", "unpacked") && read_file("unpacked/pack.txt")',
    ),
  ).toBe("packed");
});

test("skip is reported with the outcome, even if the code catches the error", async () => {
  expect(await runner.script('skip("no hosts"); log_info("not reached")')).toMatchObject({
    ok: false,
    skipped: "no hosts",
    logs: [],
  });
  expect(await runner.script('try { skip("no hosts") } catch {} 5')).toMatchObject({
    ok: true,
    value: 5,
    skipped: "no hosts",
  });
});

describe("a call to the host", () => {
  const signals: AbortSignal[] = [];
  const ask = async (what: string, input: unknown, signal: AbortSignal): Promise<unknown> => {
    signals.push(signal);
    if (what === "ssh") throw new Error("no such host");
    if (what === "notify") return new Promise(() => undefined);
    return { records: [{ asset_value: JSON.stringify(input) }], total: 1 };
  };

  test("returns while the script waits, one call after the other", async () => {
    expect(
      await value('[db_select_assets("w", "jsonl"), dbSelectAssets("v", "jsonl")].map(JSON.parse)', {
        callHost: ask,
      }),
    ).toEqual([
      { asset_value: '{"of":"assets","workspace":"w"}' },
      { asset_value: '{"of":"assets","workspace":"v"}' },
    ]);
  });

  test("is answered to the right one of concurrent scripts", async () => {
    const runs = Array.from({ length: 8 }, (_, index) =>
      value('db_select_assets("w", "jsonl")', {
        isolate: `asks-${index}`,
        callHost: async () => ({ records: [{ index }], total: 1 }),
      }),
    );
    expect(await Promise.all(runs)).toEqual(runs.map((_, index) => JSON.stringify({ index })));
  });

  test("may fail, with a warning and an empty value", async () => {
    const outcome = await runner.script('ssh_exec("h", "id")', { callHost: ask });
    expect(outcome).toMatchObject({
      ok: true,
      value: "",
      logs: [{ level: "warn", message: "ssh_exec: no such host" }],
    });
  });

  test("without a response ends at the script's timeout, and is abandoned", async () => {
    signals.length = 0;
    expect(
      await runner.script('notify_webhook("x"); for (;;);', { callHost: ask, timeoutMs: 300 }),
    ).toMatchObject({
      ok: false,
      reason: "timeout",
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test("outside runs logs a warning", async () => {
    expect(await runner.script('db_select_assets("w")')).toMatchObject({
      ok: true,
      value: "",
      logs: [{ message: expect.stringContaining("only available in a step of a run") }],
    });
  });
});

test("a script fails with a reason if commands and events are disabled", async () => {
  const closed = { commands: false } as const;
  for (const code of [
    'exec_cmd("id")',
    'bash("id")',
    'git_clone("https://a.example/x.git")',
    'generate_event("w", "t", "s", "d", {})',
  ])
    expect(await runner.script(code, closed)).toMatchObject({
      ok: false,
      reason: "failed",
      message: expect.stringMatching(/not available here|only runs can emit/),
    });
});
