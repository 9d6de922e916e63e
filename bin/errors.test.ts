import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandResult, runCommand } from "./test-command.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-errors-"));
  await writeFile(join(folder, "bad.yaml"), "name: [\n");
  await writeFile(join(folder, "bytes.yaml"), Buffer.from([0xff, 0xfe, 0x00]));
  await writeFile(join(folder, "huge.yaml"), "a".repeat(3_000_000));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const command = (...args: string[]): Promise<CommandResult> =>
  runCommand(args, { cwd: folder, env: { HOME: folder } });
const TO = ["--token", "0123456789abcdef", "--url"];

/** Runs `weft` with a server that is not Weft, or stops. */
async function against(answer: RequestListener, ...args: string[]): Promise<CommandResult> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await command(...args, ...TO, `http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** An error is one sentence, and optionally a hint, without a stack trace. */
function expectOneSentence({ error }: CommandResult): void {
  const [first = "", ...more] = error.trimEnd().split("\n");
  expect(first).toMatch(/^weft: .*[^ ]/);
  expect(more.length).toBeLessThanOrEqual(1);
  expect(error).not.toMatch(/Internal error|\bat .*\.[jt]s\b|undefined|\[object/);
}

describe("an invalid command line", () => {
  test.each([
    [["frobnicate"], "Unknown command 'frobnicate'."],
    [["--frob"], "Unknown option '--frob'."],
    [
      ["runs", "--limit", "-1"],
      "Option '--limit <count>' argument '-1' is invalid. It must be a whole number.",
    ],
    [
      ["runs", "--limit", "x"],
      "Option '--limit <count>' argument 'x' is invalid. It must be a whole number.",
    ],
    [["run", "-t"], "Option '-t, --target <target>' argument missing."],
    [["run"], "Missing required argument 'name|file.yaml'."],
    [
      ["run", "hello", "-p", "x"],
      "Option '-p, --param <key=value>' argument 'x' is invalid. It must have the form KEY=VALUE.",
    ],
    [["emit", "a.b", "--data", "{"], "--data must be a JSON object."],
    [["emit", "a.b", "--data", "null"], "--data must be a JSON object."],
    [
      ["emit", "a.b", "--file", "events.jsonl"],
      "--file emits the events of a file: no topic and no options of an event may be given.",
    ],
    [["runs", "--url", "ftp://x"], "--url must be an http or https URL, not 'ftp://x'."],
    [["logs"], "Missing required argument 'run'."],
    [
      ["schedules", "explode"],
      "Unknown command 'schedules explode'. Use one of: list, show, create, enable, disable, trigger, delete.",
    ],
    [["version", "extra"], "Too many arguments for 'version'. Expected 0 arguments but got 1."],
    [["token", "extra"], "Unknown command 'token extra'. Use one of: show, create, list, revoke."],
    [["token", "show", "extra"], "Too many arguments for 'show'. Expected 0 arguments but got 1."],
    [["token", "--email", "a@example.com"], "Unknown option '--email'."],
    [["token", "create"], "Required option '--email <email>' not specified."],
    [["token", "create", "--email", "nobody"], "--email must be an e-mail address, not 'nobody'."],
    [
      ["token", "create", "--email", "a@example.com", "--scope", "all"],
      "Option '--scope <service>' argument 'all' is invalid. Allowed choices are automation, documents.",
    ],
    [
      ["token", "create", "--email", "a@example.com", "--expires", "soon"],
      "--expires must be a duration such as 12h",
    ],
    [["token", "create", "--email", "a@example.com", "--expires", "0d"], "--expires must be in the future."],
    [["token", "revoke"], "Missing required argument 'id'."],
    [["help", "run", "extra"], "run has no subcommands: remove 'extra'."],
    [
      ["start", "--port", "abc"],
      "Option '--port <port>' argument 'abc' is invalid. It must be a whole number from 0 to 65535.",
    ],
  ])("%j exits with 2", async (args, said) => {
    const ended = await command(...args);
    expect([ended.code, ended.out]).toEqual([2, ""]);
    expect(ended.error).toContain(`weft: ${said}`);
    expectOneSentence(ended);
  });
});

describe("a command that fails", () => {
  test.each([
    [["runs"], "There is no access token"],
    [["runs", ...TO, "http://127.0.0.1:9"], "Weft does not respond at http://127.0.0.1:9 ("],
    [["run", "nofile.yaml"], "nofile.yaml does not exist."],
    [["run", "bad.yaml"], "bad.yaml: line 2, column 1:"],
    [["validate", "nofile.yaml"], "The file nofile.yaml does not exist."],
    [["assets", "import", "nofile", ...TO, "http://127.0.0.1:9"], "The file nofile does not exist."],
    [
      ["assets", "import", "bytes.yaml", ...TO, "http://127.0.0.1:9"],
      "bytes.yaml is not a text file in UTF-8.",
    ],
    [
      ["run", "hello", "-T", "bytes.yaml", ...TO, "http://127.0.0.1:9"],
      "bytes.yaml is not a text file in UTF-8.",
    ],
    [["token", "--data-dir", "bad.yaml"], "cannot be read (ENOTDIR)"],
    [["worker"], "The AWS region of the stack is not set."],
  ])("%j exits with 1", async (args, said) => {
    const ended = await command(...args);
    expect([ended.code, ended.out]).toEqual([1, ""]);
    expect(ended.error).toContain(said);
    expectOneSentence(ended);
  });

  test.each([
    ["bad.yaml", "bad.yaml:2:1: "],
    ["bytes.yaml", "bytes.yaml:1:1: the text is not UTF-8"],
    ["huge.yaml", "huge.yaml:1:1: a definition must have at most"],
  ])("%s is reported as an invalid workflow, with its position", async (file, said) => {
    const ended = await command("validate", file);
    expect([ended.code, ended.error]).toEqual([1, "weft: 1 of 1 files is not valid.\n"]);
    expect(ended.out).toContain(said);
    expect(ended.out.split("\n").length).toBeLessThan(10);
  });
});

const REQUESTING_COMMANDS = [
  ["runs"],
  ["run", "hello"],
  ["workflows", "show", "hello"],
  ["logs", "1"],
  ["emit", "custom.a"],
  ["events"],
  ["schedules", "trigger", "x"],
  ["assets"],
  ["assets", "export"],
  ["assets", "export", "--out", "assets.csv"],
  ["functions", "eval", "1"],
  ["dead-letters"],
];

describe("a server that is not Weft", () => {
  const page: RequestListener = (_, response) => void response.end("<html>hello</html>");
  // These commands request text.
  const strict = REQUESTING_COMMANDS.filter(([name, action]) => name !== "logs" && action !== "export");
  test.each(strict)("weft %s %s reports a response that is not JSON", async (...args) => {
    const ended = await against(page, ...args);
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/is not Weft: \S+ \S+ did not return JSON\.\n/);
    expectOneSentence(ended);
  });

  test.each(REQUESTING_COMMANDS)("weft %s %s %s reports the 502 of a proxy", async (...args) => {
    const ended = await against((_, response) => void response.writeHead(502).end("<html>"), ...args);
    expect(ended.code).toBe(1);
    expect(ended.error).toContain("The server returned 502: no reason given");
    expectOneSentence(ended);
  });

  test.each(REQUESTING_COMMANDS)("weft %s %s %s reports an incomplete response", async (...args) => {
    const ended = await against(
      (_, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"data":', () => response.destroy());
      },
      ...args,
    );
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/broke before|does not respond/);
    expectOneSentence(ended);
  });
});

describe("with --json", () => {
  test.each([
    [["runs", ...TO, "http://127.0.0.1:9"], 1, /^Weft does not respond/],
    [
      ["runs", "--limit", "x"],
      2,
      /^Option '--limit <count>' argument 'x' is invalid. It must be a whole number/,
    ],
    [["validate", "nofile.yaml"], 1, /^The file \S+ does not exist/],
    [["assets", "import", "nofile", ...TO, "http://127.0.0.1:9"], 1, /^The file \S+ does not exist/],
  ])("%j prints the reason as JSON too", async (args, code, message) => {
    const ended = await command(...args, "--json");
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.out)).toEqual({ error: true, message: expect.stringMatching(message) });
  });

  test("no second JSON value follows the first", async () => {
    const ended = await command("validate", "bad.yaml", "--json");
    expect([ended.code, (JSON.parse(ended.out) as { valid: boolean }).valid]).toEqual([1, false]);
  });
});

test("no command creates a data folder", async () => {
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
});
