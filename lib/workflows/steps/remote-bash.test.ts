import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import type { DockerTarget, Remote, RemoteCommand, RemoteUse, SshTarget } from "../remote/machine.ts";
import { getRun } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";

let open: TestDeps | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

interface Seen {
  readonly commands: RemoteCommand[];
  readonly targets: (DockerTarget | SshTarget)[];
  readonly uses: RemoteUse[];
  closed: number;
}

type Answer = (
  command: RemoteCommand,
  number: number,
) => { exitCode?: number; stdout?: string; stderr?: string } | Promise<never>;

/** Machines with scripted responses. */
function machines(answer: Answer = () => ({})): { remote: Remote; seen: Seen } {
  const seen: Seen = { commands: [], targets: [], uses: [], closed: 0 };
  const machine = async (target: DockerTarget | SshTarget, use: RemoteUse) => {
    seen.targets.push(target);
    seen.uses.push(use);
    return {
      run: async (command: RemoteCommand) => {
        seen.commands.push(command);
        const { exitCode = 0, stdout = "", stderr = "" } = await answer(command, seen.commands.length);
        await writeFile(command.stdoutPath, stdout);
        await writeFile(command.stderrPath, stderr);
        const bytes = { stdoutBytes: Buffer.byteLength(stdout), stderrBytes: Buffer.byteLength(stderr) };
        return { exitCode, signal: null, timedOut: false, aborted: false, durationMs: 1, ...bytes };
      },
      close: async () => {
        seen.closed += 1;
      },
    };
  };
  const settings = {
    volumeRoots: [],
    keysDir: "/nowhere",
    knownHostsPath: "/nowhere",
    hostNetwork: false,
    dockerHost: undefined,
  };
  return { seen, remote: { settings, docker: machine, ssh: machine, close: async () => undefined } };
}

/** Runs one step with the given fields until it ends. */
async function run(fields: string, options: { remote?: Remote; target?: string } = {}) {
  const { remote, target = "t" } = options;
  open = await testDeps(remote === undefined ? {} : { remote });
  await storeWorkflow(open.deps, `name: m\nsteps:\n  - {name: s, type: remote-bash, ${fields}}\n`);
  const { run_id } = await startRun(open.deps, { module: "m", target, workspace: "w" });
  await open.drain();
  const record = await getRun(open.deps, run_id);
  return { ...record, workspace: join(open.folder, "workspaces", "w") };
}

const DOCKER = 'step_runner: docker, step_runner_config: {image: "alpine:{{target}}"}';

it("a bash step with its own runner is executed there, with the values of its template", async () => {
  const { remote, seen } = machines(() => ({ stdout: "there" }));
  open = await testDeps({ remote });
  const config = '{image: "alpine:{{target}}", env: {A: "{{target}}"}}';
  await storeWorkflow(
    open.deps,
    `name: m\nsteps:\n  - {name: s, type: bash, step_runner: docker, step_runner_config: ${config}, command: "echo {{target}}"}\n  - {name: h, type: bash, command: "echo {{s_output}}"}\n`,
  );
  const { run_id } = await startRun(open.deps, { module: "m", target: "3", workspace: "w" });
  await open.drain();
  expect(await getRun(open.deps, run_id)).toMatchObject({ status: "completed" });
  expect(seen.targets).toMatchObject([{ image: "alpine:3" }]);
  expect(seen.commands[0]).toMatchObject({ script: 'echo "${W1}"', env: { W1: "3", A: "3" } });
  expect(open.commands.map(({ argv }) => argv.at(-1))).toEqual(['echo "${W1}"']);
});

describe("a remote-bash step", () => {
  it("fails with a clear error if remote machines are unavailable", async () => {
    expect(await run(`${DOCKER}, command: id`)).toMatchObject({
      status: "failed",
      error_message: expect.stringContaining("require a server or a worker"),
    });
  });

  it("passes values with the script, renders its configuration, and closes the connection", async () => {
    const { remote, seen } = machines(() => ({ stdout: "out\n" }));
    const result = await run(`${DOCKER}, command: "echo '{{target}}' {{target}}"`, {
      remote,
      target: "$(id)'x",
    });
    // Not a valid image name: rejected before anything is opened.
    expect(result.error_message).toContain("step_runner_config.image");
    expect(seen.targets).toEqual([]);
    await open?.close();

    const fine = await run(
      'step_runner: docker, step_runner_config: {image: alpine, env: {A: "<{{target}}>"}}, command: "echo {{target}}"',
      { remote, target: "$(id)'x" },
    );
    expect(fine.status).toBe("completed");
    expect(seen.commands[0]?.script).toBe('echo "${W1}"');
    expect(seen.commands[0]?.env).toMatchObject({ W1: "$(id)'x", A: "<$(id)'x>", WEFT_STEP: "s" });
    expect(seen.targets).toEqual([{ image: "alpine", mounts: [], persistent: false }]);
    expect(seen.uses[0]).toMatchObject({ step: "s", attempt: 1 });
    expect(seen.closed).toBe(1);
  });

  it("rejects a value with a NUL before anything is started", async () => {
    const { remote, seen } = machines();
    const { status, error_message } = await run(
      `${DOCKER.replace(":{{target}}", "")}, command: "echo {{target}}"`,
      {
        remote,
        target: "a\0b",
      },
    );
    expect(status).toBe("failed");
    expect(error_message).toMatch(/NUL/);
    expect(seen.commands).toEqual([]);
  });

  it("stops at the first failing command, and reports the end of its output", async () => {
    const { remote, seen } = machines((_command, number) =>
      number === 2 ? { exitCode: 9, stderr: "no\n" } : {},
    );
    const { error_message } = await run(`${DOCKER}, commands: [a, b, c]`, { remote });
    expect(error_message).toContain("command failed with exit code 9: no");
    expect(seen.commands.map(({ script }) => script)).toEqual(["a", "b"]);
    expect(seen.closed).toBe(1);
  });

  it("finishes all parallel commands, at most eight at a time, with results in list order", async () => {
    let active = 0;
    let most = 0;
    const { remote, seen } = machines(async ({ script }) => {
      active += 1;
      most = Math.max(most, active);
      await new Promise(setImmediate);
      active -= 1;
      return { stdout: script, exitCode: script === "c3" ? 1 : 0 } as never;
    });
    const commands = Array.from({ length: 20 }, (_, index) => `c${index}`);
    const { error_message } = await run(`${DOCKER}, parallel_commands: [${commands}]`, { remote });
    expect(error_message).toContain("command failed with exit code 1");
    expect(seen.commands).toHaveLength(20);
    expect(most).toBe(8);
    expect(new Set(seen.commands.map(({ token }) => token)).size).toBe(20);
  });

  it("writes its output to std_file, and fetches the remote file", async () => {
    const { remote } = machines(({ script }) => ({
      stdout: script.startsWith("cat") ? "the file\n" : "the output\n",
    }));
    const files = 'std_file: o, step_remote_file: "/r/{{target}}", host_output_file: sub/f';
    const { status, workspace } = await run(`${DOCKER}, command: a, ${files}`, { remote });
    expect(status).toBe("completed");
    expect(await readFile(join(workspace, "o"), "utf8")).toBe("the output");
    expect(await readFile(join(workspace, "sub/f"), "utf8")).toBe("the file\n");
  });

  it.each(["/etc/cron.d/x", "../out", "{{Output}}/../../x", "."])(
    "does not fetch a file to a forbidden path: %s",
    async (path) => {
      const { remote } = machines();
      const files = `step_remote_file: /r, host_output_file: "${path}"`;
      expect((await run(`${DOCKER}, command: a, ${files}`, { remote })).error_message).toMatch(
        /host_output_file: must be/,
      );
    },
  );

  it("fails if the file cannot be fetched, and keeps the existing file", async () => {
    const { remote } = machines(({ script }) =>
      script.startsWith("cat")
        ? Promise.reject(new StepFailedError("the connection to the host was lost"))
        : {},
    );
    const files = "step_remote_file: /r, host_output_file: f";
    const { error_message } = await run(`${DOCKER}, command: a, ${files}`, { remote });
    expect(error_message).toContain(
      "step_remote_file: /r could not be copied: the connection to the host was lost",
    );
  });
});
