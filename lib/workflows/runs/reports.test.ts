import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resendPending } from "../../events/log/process.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { listArtifacts } from "../artifacts/list.ts";
import { openArtifact } from "../artifacts/open-artifact.ts";
import { artifactsOfRun } from "./artifacts.ts";
import { readRunLog } from "./log.ts";
import { getRun } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps({
    command: async ({ argv }) => ({ exitCode: argv.join(" ").includes("fail") ? 1 : 0, stdout: "out\n" }),
  });
  await mkdir(join(test.folder, "workspaces", "w", "out"), { recursive: true });
});

afterEach(() => test.close());

const put = (path: string, text: string) => writeFile(join(test.folder, "workspaces", "w", path), text);

async function run(body: object): Promise<string> {
  const { run_id } = await startRun(test.deps, startBody.parse({ target: "t", workspace: "w", ...body }));
  await test.drain();
  return run_id;
}

const REPORTS = `
reports:
  - {name: "Hosts of {{Target}}", path: "{{Output}}/out/{{Target}}.data", type: text, description: all of them}
  - {path: out}
  - {name: extra, path: extra.txt, optional: true}
  - {name: lost, path: "lost-{{Target}}.md"}
`;

describe("reports of a module", () => {
  beforeEach(async () => {
    await put("out/t.data", "a\nb");
    await storeWorkflow(test.deps, `name: m\nsteps: [{name: s, type: bash, command: echo}]\n${REPORTS}`);
  });

  it("become artifacts of a successful run if they exist", async () => {
    const runId = await run({ module: "m" });
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed", completed_steps: 1 });
    const found = await artifactsOfRun(test.deps, runId);
    expect(
      found.toSorted((one, other) => one.artifact_path.localeCompare(other.artifact_path)),
    ).toMatchObject([
      { artifact_path: "out", name: "out", content_type: "folder", artifact_type: "report", optional: false },
      {
        artifact_path: "out/t.data",
        name: "Hosts of t",
        content_type: "txt",
        artifact_type: "report",
        size_bytes: 3,
        line_count: 2,
        description: "all of them",
        workspace: "w",
      },
    ]);
    const { content } = await openArtifact(test.deps, "w", "out/t.data");
    const bytes: Uint8Array[] = [];
    for await (const chunk of content) bytes.push(chunk);
    expect(Buffer.concat(bytes).toString()).toBe("a\nb");
  });

  it("are logged in the run's log if they are missing and not optional", async () => {
    const runId = await run({ module: "m" });
    const { log: text } = await readRunLog(test.deps, runId, {});
    expect(text).toContain("report lost is missing: lost-t.md does not exist");
    expect(text).not.toContain("extra");
  });

  it("belong to the newest run, and exist once, however often it runs", async () => {
    const first = await run({ module: "m" });
    const second = await run({ module: "m" });
    expect(await artifactsOfRun(test.deps, first)).toEqual([]);
    expect(await artifactsOfRun(test.deps, second)).toHaveLength(2);
    expect((await listArtifacts(test.deps, {}, { offset: 0, limit: 10 }, false)).total).toBe(2);
  });

  it("are not artifacts of a failed run", async () => {
    await storeWorkflow(test.deps, `name: bad\nsteps: [{name: s, type: bash, command: fail}]\n${REPORTS}`);
    const runId = await run({ module: "bad" });
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "failed" });
    expect(await artifactsOfRun(test.deps, runId)).toEqual([]);
  });
});

it.each(["../../secret", "/etc/passwd", "{{Target}}", "link", "folder/secret", ".", "out/\\u0085/../../x"])(
  "a report at %j is not recorded as an artifact",
  async (path) => {
    const root = join(test.folder, "workspaces", "w");
    await writeFile(join(test.folder, "secret"), "x");
    await symlink(join(test.folder, "secret"), join(root, "link"));
    await symlink(test.folder, join(root, "folder"));
    await storeWorkflow(
      test.deps,
      `name: m\nsteps: [{name: s, type: bash, command: echo}]\nreports: [{path: "${path}"}]\n`,
    );
    const runId = await run({ module: "m", target: "../../../etc/passwd" });
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
    expect(await artifactsOfRun(test.deps, runId)).toEqual([]);
    expect((await readRunLog(test.deps, runId, {})).log).toContain("is missing");
  },
);

it("a flow has the reports of its modules, and its own after all of them", async () => {
  await put("a.txt", "1\n");
  await put("b.txt", "1\n2\n");
  await storeWorkflow(
    test.deps,
    "name: m\nparams: [{name: file}]\nsteps: [{name: s, type: bash, command: echo}]\nreports: [{path: '{{file}}.txt'}]\n",
  );
  await storeWorkflow(
    test.deps,
    "name: f\nmodules:\n  - {name: one, path: m, params: {file: a}}\nreports: [{name: all, path: b.txt}]\n",
  );
  const runId = await run({ flow: "f" });
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed", total_steps: 1 });
  const found = await artifactsOfRun(test.deps, runId);
  expect(found.map(({ name, line_count }) => `${name} ${line_count}`).toSorted()).toEqual([
    "a.txt 1",
    "all 2",
  ]);
});

/** Some of the commits of such a run. */
const CRASHES = [6, 8, 9, 10, 11, 12, 14, 17];

it.each(CRASHES)("an interrupted run still has its reports, once (commit %i)", async (crashAtCommit) => {
  const folder = await mkdtemp(join(tmpdir(), "weft-reports-"));
  const clock = testClock();
  try {
    await mkdir(join(folder, "workspaces", "w"), { recursive: true });
    await writeFile(join(folder, "workspaces", "w", "a.txt"), "1\n");
    const dying = await testDeps({ folder, clock, hostile: { seed: 1, crashAtCommit, onCrash: () => {} } });
    let runId = "";
    try {
      await storeWorkflow(
        dying.deps,
        "name: m\nsteps: [{name: s, type: bash, command: echo}]\nreports: [{path: a.txt}]\n",
      );
      const body = startBody.parse({ target: "t", workspace: "w", module: "m" });
      runId = (await startRun(dying.deps, body)).run_id;
      await dying.drain();
    } catch (error) {
      if (!isCrash(error)) throw error;
    }
    await dying.close();
    expect(runId).not.toBe("");
    const after = await testDeps({ folder, clock });
    for (let round = 0; round < 6; round += 1) {
      await after.drain();
      clock.advance(5 * 60_000);
      await resendPending(after.deps, 100);
      await resendStalledRuns(after.deps);
    }
    expect(await getRun(after.deps, runId)).toMatchObject({ status: "completed" });
    expect(await artifactsOfRun(after.deps, runId)).toMatchObject([
      { artifact_path: "a.txt", line_count: 1 },
    ]);
    await after.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
