import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestIssuer, TEST_AUDIENCE, type TestIssuer } from "../../lib/testing/test-issuer.ts";
import { freePort, linkClone, pasteCommands, WAIT_FOR_SERVER } from "./paste-commands.ts";

const GUIDES = new URL("../../docs/documents/", import.meta.url);
const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
const PAGE_MAX_MS = 120_000;
/** The page with the setup commands that the examples of all pages need. */
const FIRST = "people-and-tokens.md";
/** The issuer that the pages use. */
const ISSUER = "https://login.example.org";

const pages = (await readdir(GUIDES)).filter((name) => name.endsWith(".md"));

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startTestIssuer({ now: Date.now });
});
afterAll(() => issuer[Symbol.asyncDispose]());

/** Creates a clone of links. */
async function makeClone(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weft guide "));
  await linkClone(folder);
  // npx takes seconds to find the command, so a shim replaces it; readme-tour.test.ts uses the real one.
  const npx = join(folder, "shims", "npx");
  await mkdir(join(folder, "shims"));
  await writeFile(npx, `#!/bin/sh\n[ "$1" = weft ] && shift && exec "${process.execPath}" "${WEFT}" "$@"\n`);
  await chmod(npx, 0o755);
  return folder;
}

/** Commands of a page and their documented output. */
interface Example {
  /** `sh`; `sh server` restarts the server; `sh refused` must fail. */
  readonly kind: string;
  readonly commands: string;
  /** `undefined` if the page shows no output. `…` matches any text. */
  readonly answer: string | undefined;
}

async function examplesOf(page: string): Promise<Example[]> {
  const text = await readFile(new URL(page, GUIDES), "utf8");
  const found = text.matchAll(/^```(sh(?: \w+)?)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm);
  return [...found].map(([, kind = "", commands = "", answer]) => ({ kind, commands, answer }));
}

const started = (commands: string): string => `(${commands.trim()}) >> server.log 2>&1 &\n${WAIT_FOR_SERVER}`;
const STOP = `kill "$(field .pid < "$WEFT_DATA_DIR/server.json")"
while [ -e "$WEFT_DATA_DIR/server.json" ]; do sleep 0.1; done\n`;

/** Builds one script of all examples; each writes its output to its own file. */
function scriptOf(examples: readonly Example[]): string {
  const parts = examples.map(({ kind, commands }, at) => {
    if (kind === "sh server") return STOP + started(commands);
    if (kind === "sh refused") return `if (${commands}) > answers/${at} 2>&1; then exit 9; fi\n`;
    return `{ ${commands} } > answers/${at} 2>&1\n`;
  });
  return `set -e\nmkdir answers\n${started("npm start")}${parts.join("")}`;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const asPattern = (answer: string): RegExp =>
  new RegExp(`^${answer.trim().split("…").map(escaped).join("[^]*?")}$`);

// One page waits half a minute for an event.
test.concurrent.for(pages)(
  "the examples of docs/documents/%s print the documented output",
  {
    timeout: PAGE_MAX_MS + 30_000,
  },
  async (page, { onTestFinished }) => {
    const folder = await makeClone();
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const [ready] = await examplesOf(FIRST);
    const own = await examplesOf(page);
    const examples = ready === undefined || page === FIRST ? own : [ready, ...own];
    expect(examples.length).toBeGreaterThan(2);
    const script = scriptOf(examples)
      .replaceAll(`${ISSUER}/jwks`, issuer.settings["OIDC_OP_JWKS_ENDPOINT"] ?? "")
      .replaceAll(ISSUER, issuer.settings["OIDC_OP_URL"] ?? "");
    const claims = { sub: "grace", email: "grace@example.org", first_name: "Grace", last_name: "Hopper" };
    const { code, out } = await pasteCommands(
      script,
      {
        PORT: String(await freePort()),
        WEFT_DATA_DIR: join(folder, "data"),
        PATH: `${join(folder, "shims")}:${process.env.PATH}`,
        JWT: await issuer.sign({ ...claims, aud: TEST_AUDIENCE }),
      },
      { folder, mostMs: PAGE_MAX_MS },
    );
    const said = async (at: number): Promise<string> => {
      const text = await readFile(join(folder, "answers", String(at)), "utf8").catch(() => "");
      return text.replace(/^npm warn .*\n|\r/gm, "").trim();
    };
    const written = (await readdir(join(folder, "answers"))).map(Number);
    expect(code, `${out}\n${await said(Math.max(...written))}`).toBe(0);
    for (const [at, { answer, commands }] of examples.entries())
      if (answer !== undefined) expect(await said(at), commands).toMatch(asPattern(answer));
  },
);
