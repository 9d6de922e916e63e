import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, startCommand } from "./test-command.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-misuse-"));
  await writeFile(join(folder, "bad.yaml"), "name: [\n");
  await writeFile(join(folder, "bytes.yaml"), Buffer.from([0xff, 0xfe, 0x00]));
  await writeFile(join(folder, "huge.yaml"), "a".repeat(3_000_000));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const command = (...args: string[]): Promise<Ended> =>
  startCommand(args, { cwd: folder, env: { HOME: folder } }).ended;
const TO = ["--token", "0123456789abcdef", "--url"];

/** Runs `weft` against something that is no Weft, or not for long. */
async function against(answer: RequestListener, ...args: string[]): Promise<Ended> {
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

/** What is told of: a sentence, and a line with what may help. Nothing of where in the program it was. */
function expectOneSentence({ error }: Ended): void {
  const [first = "", ...more] = error.trimEnd().split("\n");
  expect(first).toMatch(/^weft: .*[^ ]/);
  expect(more.length).toBeLessThanOrEqual(1);
  expect(error).not.toMatch(/fault of its own|\bat .*\.[jt]s\b|undefined|\[object/);
}

describe("a command that was called wrongly", () => {
  test.each([
    [["frobnicate"], "There is no command 'frobnicate'."],
    [["--frob"], "There is no flag '--frob'."],
    [
      ["runs", "--limit", "-1"],
      "--limit takes a value; one that begins with a dash is written --limit=-VALUE.",
    ],
    [["runs", "--limit", "x"], "--limit must be a whole number."],
    [["run", "-t"], "Option '-t, --target <value>' argument missing"],
    [["run"], "run takes the name of a workflow, or a YAML file."],
    [["run", "hello", "-p", "x"], "--param must be KEY=VALUE, not 'x'."],
    [["emit", "a.b", "--data", "{"], "--data must be a JSON object."],
    [["emit", "a.b", "--data", "null"], "--data must be a JSON object."],
    [["runs", "--url", "ftp://x"], "--url is no http URL: ftp://x"],
    [["logs"], "logs takes the id of a run."],
    [["schedules", "explode"], "schedules cannot 'explode'"],
    [["version", "extra"], "'extra' is one word too many."],
    [["token", "extra"], "token cannot 'extra': show, create, list, revoke."],
    [["token", "show", "extra"], "'extra' is one word too many."],
    [["token", "--email", "a@example.com"], "--email goes with create."],
    [["token", "create"], "create takes --email: whose the token is to be."],
    [["token", "create", "--email", "nobody"], "--email must be an e-mail address, not 'nobody'."],
    [
      ["token", "create", "--email", "a@example.com", "--scope", "all"],
      "--scope must be one of automation, documents.",
    ],
    [
      ["token", "create", "--email", "a@example.com", "--expires", "soon"],
      "--expires must be a time such as 12h",
    ],
    [["token", "create", "--email", "a@example.com", "--expires", "0d"], "--expires must be in the future."],
    [["token", "revoke"], "token revoke takes <id>: <id> is missing."],
    [["help", "run", "extra"], "'extra' is one word too many."],
    [["start", "--port", "abc"], "--port must be a number from 0 to 65535."],
  ])("%j ends with 2", async (args, said) => {
    const ended = await command(...args);
    expect([ended.code, ended.out]).toEqual([2, ""]);
    expect(ended.error).toContain(`weft: ${said}`);
    expectOneSentence(ended);
  });
});

describe("a command that cannot do its work", () => {
  test.each([
    [["runs"], "There is no access token"],
    [["runs", ...TO, "http://127.0.0.1:9"], "Weft does not answer at http://127.0.0.1:9 ("],
    [["run", "nofile.yaml"], "There is no file"],
    [["run", "bad.yaml"], "bad.yaml: line 2, column 1:"],
    [["validate", "nofile.yaml"], "There is no file nofile.yaml."],
    [["assets", "import", "nofile", ...TO, "http://127.0.0.1:9"], "There is no file nofile."],
    [["assets", "import", "bytes.yaml", ...TO, "http://127.0.0.1:9"], "bytes.yaml is not text in UTF-8."],
    [["run", "hello", "-T", "bytes.yaml", ...TO, "http://127.0.0.1:9"], "bytes.yaml is not text in UTF-8."],
    [["token", "--data-dir", "bad.yaml"], "cannot be read (ENOTDIR)"],
    [["worker"], "The AWS region of the stack is not known."],
  ])("%j ends with 1", async (args, said) => {
    const ended = await command(...args);
    expect([ended.code, ended.out]).toEqual([1, ""]);
    expect(ended.error).toContain(said);
    expectOneSentence(ended);
  });

  test.each([
    ["bad.yaml", "bad.yaml:2:1: "],
    ["bytes.yaml", "bytes.yaml:1:1: the text is not UTF-8"],
    ["huge.yaml", "huge.yaml:1:1: a definition has at most"],
  ])("%s is told to be no workflow, with its place", async (file, said) => {
    const ended = await command("validate", file);
    expect([ended.code, ended.error]).toEqual([1, "weft: 1 of 1 files is not valid.\n"]);
    expect(ended.out).toContain(said);
    expect(ended.out.split("\n").length).toBeLessThan(10);
  });
});

const WHAT = [
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

describe("over a server that is none", () => {
  const page: RequestListener = (_, response) => void response.end("<html>hello</html>");
  // Text is what these ask for.
  const strict = WHAT.filter(([name, action]) => name !== "logs" && action !== "export");
  test.each(strict)("weft %s %s says so, where a page of something else comes back", async (...args) => {
    const ended = await against(page, ...args);
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/is not Weft: \S+ \S+ gave no JSON\.\n/);
    expectOneSentence(ended);
  });

  test.each(WHAT)("weft %s %s %s says so, where a proxy has nobody behind it", async (...args) => {
    const ended = await against((_, response) => void response.writeHead(502).end("<html>"), ...args);
    expect(ended.code).toBe(1);
    expect(ended.error).toContain("The server refused (502): no reason given");
    expectOneSentence(ended);
  });

  test.each(WHAT)("weft %s %s %s says so, where the answer breaks off", async (...args) => {
    const ended = await against(
      (_, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"data":', () => response.destroy());
      },
      ...args,
    );
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/broke off|does not answer/);
    expectOneSentence(ended);
  });
});

describe("with --json", () => {
  test.each([
    [["runs", ...TO, "http://127.0.0.1:9"], 1, /^Weft does not answer/],
    [["runs", "--limit", "x"], 2, /^--limit must be a whole number/],
    [["validate", "nofile.yaml"], 1, /^There is no file/],
    [["assets", "import", "nofile", ...TO, "http://127.0.0.1:9"], 1, /^There is no file/],
  ])("%j tells the reason as JSON too", async (args, code, message) => {
    const ended = await command(...args, "--json");
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.out)).toEqual({ error: true, message: expect.stringMatching(message) });
  });

  test("what was printed already is not followed by another value", async () => {
    const ended = await command("validate", "bad.yaml", "--json");
    expect([ended.code, (JSON.parse(ended.out) as { valid: boolean }).valid]).toEqual([1, false]);
  });
});

test("none of this leaves a data folder behind", async () => {
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
});
