import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { listEngines, processesWith, runSteps, startSteps, uniqueSeconds } from "./test-engines.ts";

const { dockerHost, image } = listEngines();
const docker = new Docker({ socketPath: dockerHost.slice("unix://".length) });
/** YAML of a remote-bash step in a container. */
const step = (name: string, rest: string, config = ""): string =>
  `  - {name: ${name}, type: remote-bash, step_runner: docker, step_runner_config: {image: "${image}"${config}}, ${rest}}\n`;

/** Lists the containers of a run, running or not. */
const containersOf = (runId: string) =>
  docker.listContainers({ all: true, filters: { label: [`weft.run=${runId}`] } });

let weft: TestServer;
let allowed: string;
beforeAll(async () => {
  allowed = await mkdtemp(join(tmpdir(), "weft-roots-"));
  weft = await startTestServer({
    env: { DOCKER_HOST: dockerHost, REMOTE_VOLUME_ROOTS: allowed },
    files: { "secrets.env": "TOKEN=s3cr3t-t0ken\n" },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await rm(allowed, { recursive: true, force: true });
});

describe("seed 2.7: remote-bash in a container", () => {
  test("runs command, commands in one container and parallel_commands, and removes the containers", async () => {
    const { run_id, status, steps } = await runSteps(
      weft,
      step("one", 'command: "echo a; echo b >&2; ls /etc/debian_version 2>/dev/null; echo", output_args: c') +
        step("list", 'commands: ["echo 1 > /tmp/f", "cat /tmp/f"]') +
        step(
          "side",
          'parallel_commands: ["touch /tmp/l; until [ -e /tmp/r ]; do sleep 0.02; done; echo l", "touch /tmp/r; until [ -e /tmp/l ]; do sleep 0.02; done; echo r"], timeout: 30',
        ),
    );
    expect(status).toBe("completed");
    expect([steps["one"], steps["list"], steps["side"]].map((one) => one?.output)).toEqual([
      "a\nc",
      "1",
      "l\nr",
    ]);
    expect(await containersOf(run_id)).toEqual([]);
  });

  test("sets env, workdir and user, and an empty standard input", async () => {
    const { steps } = await runSteps(
      weft,
      step(
        "s",
        "command: 'pwd; echo \"$GREETING\" $WEFT_STEP; wc -c; id -u'",
        ', workdir: /tmp, user: "1000", env: {GREETING: "a  {{target}}"}',
      ),
      { target: "$(id)" },
    );
    expect(steps["s"]).toMatchObject({ status: "completed", output: "/tmp\na  $(id) s\n0\n1000" });
  });

  test("mounts the workspace, a new folder in it, and an allowed folder read-only", async () => {
    await writeFile(join(allowed, "list"), "from outside\n");
    const { status, steps, folder } = await runSteps(
      weft,
      step(
        "s",
        'commands: ["cat /in/list", "echo made > /ws/new; echo deep > /deep/f", "touch /in/no"]',
        `, volumes: ["{{Output}}:/ws", "./a/b:/deep:rw", "${allowed}:/in:ro"]`,
      ),
    );
    expect(status).toBe("failed");
    expect(steps["s"]?.error_message).toMatch(/exit code 1: .*Read-only/);
    expect(await readFile(join(folder, "new"), "utf8")).toBe("made\n");
    expect(await readFile(join(folder, "a/b/f"), "utf8")).toBe("deep\n");
  });

  test.each(["'; id; echo '", "$(id)", "a\nid\nb", "-n ü € 🐋 \\ \\n *", "{{secrets.TOKEN}}"])(
    "never executes a value: %j",
    async (target) => {
      const { steps } = await runSteps(
        weft,
        step("s", "commands: [\"printf '<%s>' {{target}}\", \"printf '<%s>' '{{target}}'\"]"),
        { target },
      );
      expect(steps["s"]).toMatchObject({ status: "completed", output: `<${target}>\n<${target}>` });
    },
  );

  test("reports the exit code and redacted standard error", async () => {
    const { steps } = await runSteps(weft, step("s", 'command: "echo no {{secrets.TOKEN}} >&2; exit 7"'));
    expect(steps["s"]?.error_message).toBe("command failed with exit code 7: no ***");
  });

  test("keeps an output of 12 MB on both streams", async () => {
    const { run_id, steps } = await runSteps(
      weft,
      step("s", 'command: "head -c 12000000 /dev/zero; head -c 3000000 /dev/zero >&2"'),
    );
    expect(steps["s"]?.status).toBe("completed");
    const log = join(weft.dataDir, "runs", run_id, steps["s"]?.log_file ?? "");
    expect((await readFile(log)).length).toBe(12_000_000);
    expect((await readFile(log.replace(/out$/, "err"))).length).toBe(3_000_000);
  });

  test("copies a file back from the container", async () => {
    const { status, folder } = await runSteps(
      weft,
      step(
        "s",
        'command: "echo found > /tmp/out", step_remote_file: /tmp/out, host_output_file: "{{Output}}/got"',
      ),
    );
    expect(status).toBe("completed");
    expect(await readFile(join(folder, "got"), "utf8")).toBe("found\n");
  });

  test("removes a persistent container at the end of its run", async () => {
    const { runId } = await startSteps(
      weft,
      step("a", 'command: "echo kept > /root-file"', ", persistent: true") +
        step("b", 'command: "cat /root-file; sleep 0.5"', ", persistent: true") +
        step("c", 'command: "cat /root-file"'),
    );
    await waitUntil("the container is there", async () => (await containersOf(runId)).length > 0);
    const run = await weft.waitForRun(runId);
    const steps = await weft.steps(runId);
    expect(steps["b"]).toMatchObject({ status: "completed", output: "kept" });
    expect(run.error_message).toMatch(/step c.*|exit code 1/);
    await waitUntil("it is gone", async () => (await containersOf(runId)).length === 0, 30_000);
  });
});

describe("the end of a command in a container", () => {
  test.each(["", ", persistent: true"])("comes at its timeout%s", async (config) => {
    const seconds = uniqueSeconds();
    const { steps } = await runSteps(
      weft,
      step(
        "s",
        `command: "trap '' TERM; setsid sleep ${seconds} & sleep ${seconds}; echo no", timeout: 8`,
        config,
      ),
    );
    expect(steps["s"]?.error_message).toMatch(/^command timed out after \d+ ms$/);
    await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 5_000);
  });

  test("comes when the run is cancelled", async () => {
    const seconds = uniqueSeconds();
    const { runId } = await startSteps(weft, step("s", `command: "sleep ${seconds}"`));
    await waitUntil("the command runs", async () => (await processesWith(seconds)).length > 0);
    await weft.call("DELETE", `/runs/${runId}`);
    expect((await weft.waitForRun(runId)).status).toBe("cancelled");
    await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 5_000);
    await waitUntil("no container is left", async () => (await containersOf(runId)).length === 0, 10_000);
  });

  test("comes when Weft is killed; the next server retries the step in a new container", async () => {
    const seconds = uniqueSeconds();
    const dataDir = await mkdtemp(join(tmpdir(), "weft-killed-"));
    const start = () => startTestServer({ dataDir, env: { DOCKER_HOST: dockerHost } });
    const first = await start();
    try {
      const command = `sh -c 'if [ "$WEFT_ATTEMPT" = 1 ]; then sleep ${seconds}; else echo again; fi'`;
      const { runId } = await startSteps(first, step("s", `command: ${JSON.stringify(command)}`));
      await waitUntil("the command runs", async () => (await processesWith(seconds)).length > 0);
      const [before] = await containersOf(runId);
      await first.kill();
      await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 10_000);
      const second = await start();
      try {
        expect((await second.waitForRun(runId)).status).toBe("completed");
        expect((await second.steps(runId))["s"]?.output).toBe("again");
        const remaining = (await containersOf(runId)).map(({ Id }) => Id);
        expect(remaining).not.toContain(before?.Id);
      } finally {
        await second[Symbol.asyncDispose]();
      }
    } finally {
      await first[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe("threats 2 and 25: rejected container settings", () => {
  const failure = async (config: string, before = ""): Promise<string> => {
    const { steps } = await runSteps(weft, before + step("s", 'command: "echo ran"', config));
    expect(steps["s"]?.status).toBe("failed");
    return steps["s"]?.error_message ?? "";
  };

  test.each([
    "/:/host",
    "/etc:/host",
    "..:/host",
    "../../..:/host",
    "{{Output}}/../../../:/host",
    "{{target}}:/host",
  ])("a folder outside the workspace: %s", async (volume) => {
    const { steps } = await runSteps(weft, step("s", 'command: "ls /host"', `, volumes: ["${volume}"]`), {
      target: "/var/run",
    });
    expect(steps["s"]?.error_message).toMatch(/^step_runner_config\.volumes\[0\]: .*REMOTE_VOLUME_ROOTS/);
  });

  test("a symbolic link that leads out of the workspace", async () => {
    await mkdir(join(allowed, "inside"));
    await symlink(join(allowed, "inside"), join(allowed, "good"));
    const link = "  - {name: link, type: bash, command: 'ln -s /etc here; ln -s /etc/../no there'}\n";
    expect(await failure(', volumes: ["./here:/host"]', link)).toMatch(/REMOTE_VOLUME_ROOTS/);
    expect(await failure(', volumes: ["./here/ssl:/host"]', link)).toMatch(/REMOTE_VOLUME_ROOTS/);
    const { steps } = await runSteps(
      weft,
      step("s", "command: ls /host", `, volumes: ["${allowed}/good:/host"]`),
    );
    expect(steps["s"]?.status).toBe("completed");
  });

  test("the host network", async () => {
    expect(await failure(", network: host")).toMatch(/^step_runner_config\.network: .*REMOTE_HOST_NETWORK/);
    expect(await failure(', network: "container:other"')).toMatch(/^step_runner_config\.network: must be/);
  });

  test("network none has only the loopback interface", async () => {
    const { steps } = await runSteps(weft, step("s", 'command: "ls /sys/class/net"', ", network: none"));
    expect(steps["s"]).toMatchObject({ status: "completed", output: "lo" });
  });

  test("privileged is refused when the workflow is stored", async () => {
    const yaml = `name: p\nsteps:\n${step("s", "command: id", ", privileged: true")}`;
    await expect(weft.storeWorkflow(yaml)).rejects.toThrow(
      /privileged: privileged containers are not allowed/,
    );
  });

  test("a missing image", async () => {
    const { steps } = await runSteps(
      weft,
      "  - {name: s, type: remote-bash, step_runner: docker, step_runner_config: {image: 'localhost:1/no/such:1'}, command: id}\n",
    );
    expect(steps["s"]?.error_message).toMatch(
      /^image localhost:1\/no\/such:1 does not exist and could not be pulled: /,
    );
  });

  test("a missing Docker engine", async () => {
    const other = await startTestServer({ env: { DOCKER_HOST: "unix:///nowhere/docker.sock" } });
    try {
      const { steps } = await runSteps(other, step("s", "command: id"));
      expect(steps["s"]?.error_message).toBe(
        "the Docker engine does not respond (ENOENT): start it, or set DOCKER_HOST",
      );
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });

  test("a step with a hanging engine ends at its timeout", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const other = await startTestServer({ env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` } });
    try {
      const { steps } = await runSteps(other, step("s", "command: id, timeout: 2"));
      expect(steps["s"]?.error_message).toMatch(/the engine did not respond in time/);
    } finally {
      await other[Symbol.asyncDispose]();
      silent.close();
    }
  });
});
