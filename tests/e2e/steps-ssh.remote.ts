import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { listEngines, processesWith, runSteps, startSteps, uniqueSeconds } from "./test-engines.ts";

const { sshd } = listEngines();
const HOST = `host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}`;
const CONFIG = `{${HOST}, key_file: user}`;
/** YAML of a remote-bash step over ssh. */
const ssh = (name: string, rest: string, config = CONFIG): string =>
  `  - {name: ${name}, type: remote-bash, step_runner: ssh, step_runner_config: ${config}, ${rest}}\n`;

let weft: TestServer;
let folder: string;
let knownHosts: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-ssh-"));
  knownHosts = join(folder, "known_hosts");
  await writeFile(knownHosts, sshd.knownHostsLine);
  weft = await startTestServer({
    env: { SSH_KNOWN_HOSTS: knownHosts },
    files: {
      "keys/user": await readFile(sshd.keyPath, "utf8"),
      "keys/stranger": await readFile(sshd.unauthorizedKeyPath, "utf8"),
      "secrets.env": `DEPLOY_KEY="${await readFile(sshd.keyPath, "utf8")}"\nTOKEN=s3cr3t-t0ken\n`,
    },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe("seed 2.7: remote-bash over ssh", () => {
  test("runs command with arguments, commands in order, and parallel_commands in parallel", async () => {
    const dir = await mkdtemp(join(folder, "side-"));
    const { status, steps } = await runSteps(
      weft,
      ssh("one", 'command: "echo a; echo b >&2; echo", output_args: "c"') +
        ssh("list", `commands: ["echo 1 > ${dir}/f", "cat ${dir}/f", "cd /; pwd", "pwd"]`) +
        ssh(
          "side",
          `parallel_commands: ["touch ${dir}/l; until [ -e ${dir}/r ]; do sleep 0.02; done; echo l", "touch ${dir}/r; until [ -e ${dir}/l ]; do sleep 0.02; done; echo r"], timeout: 30`,
        ),
    );
    expect(status).toBe("completed");
    expect(steps["one"]?.output).toBe("a\nc");
    expect(steps["list"]?.output).toMatch(/^1\n\/\n\/\w+/);
    expect(steps["side"]?.output).toBe("l\nr");
  });

  test("sets env, workdir, the shell and an empty standard input; later steps see the output", async () => {
    const { steps } = await runSteps(
      weft,
      ssh(
        "s",
        'command: \'pwd; echo "$GREETING" "$WEFT_STEP"; wc -c; echo ${BASH_VERSION:+bash}\'',
        `{${HOST}, key_file: user, workdir: /usr/lib, env: {GREETING: "a  {{target}}"}}`,
      ) + "  - {name: after, type: bash, command: 'echo [{{s_output}}]'}\n",
      { target: "$(id) ' b" },
    );
    expect(steps["s"]?.output).toBe("/usr/lib\na  $(id) ' b s\n0\nbash");
    expect(steps["after"]?.output).toContain("[/usr/lib\n");
  });

  test.each([
    "'; id; echo '",
    "$(id)",
    "`id`",
    "a\nid\nb",
    '"; id #',
    "{{secrets.TOKEN}} [[x]]",
    "-n ü € 🐋 \\ \\n *",
    "WEFT\n'EOF'\n.",
  ])("never executes a value: %j", async (target) => {
    const { status, steps } = await runSteps(
      weft,
      ssh(
        "s",
        `commands: ["printf '<%s>' {{target}}", "printf '<%s>' '{{target}}'", 'printf "<%s>" "{{target}}"']`,
      ),
      { target },
    );
    expect(status).toBe("completed");
    expect(steps["s"]?.output).toBe([1, 2, 3].map(() => `<${target}>`).join("\n"));
  });

  test("runs for many foreach items in parallel", async () => {
    const items = Array.from({ length: 30 }, (_, index) => `i${index}`);
    const inner = ssh("inner", 'command: "echo [[x]]"').replace("  - ", "").trim();
    const { status, steps } = await runSteps(
      weft,
      `  - {name: all, type: foreach, variable: x, parallel: 30, input: [${items}], step: ${inner}}\n`,
    );
    expect(status).toBe("completed");
    expect(steps["all"]?.output).toBe(items.join("\n"));
  });

  test("passes a value of 1 MB without exceeding the argument limit of child processes", async () => {
    const { steps } = await runSteps(
      weft,
      "  - {name: big, type: bash, command: \"head -c 1000000 /dev/zero | tr '\\\\0' x\"}\n" +
        ssh("s", 'command: "printf %s {{big_output}} | wc -c"'),
    );
    expect(steps["s"]).toMatchObject({ status: "completed", output: "1000000" });
  });

  test("the error has the exit code and the end of standard error without secrets", async () => {
    const { status, steps, error_message } = await runSteps(
      weft,
      ssh("s", 'command: "echo no such {{secrets.TOKEN}} >&2; exit 7"'),
    );
    expect(status).toBe("failed");
    expect(steps["s"]?.error_message).toBe("command failed with exit code 7: no such ***");
    expect(error_message).toContain("exit code 7");
    expect(steps["s"]?.command).not.toContain("s3cr3t");
  });

  test("keeps an output of 12 MB in the log file and truncates the value", async () => {
    const { run_id, steps } = await runSteps(
      weft,
      ssh("s", "command: \"head -c 12000000 /dev/zero | tr '\\\\0' x\""),
    );
    expect(steps["s"]?.status).toBe("completed");
    const log = await readFile(join(weft.dataDir, "runs", run_id, steps["s"]?.log_file ?? ""));
    expect(log.length).toBe(12_000_000);
  });

  test("std_file contains the output, and a file is copied back", async () => {
    const { status, folder: workspace } = await runSteps(
      weft,
      ssh(
        "s",
        `command: "printf 'a\\\\0b\\\\377' > '${folder}/made {{target}}'; echo done", std_file: out.txt, step_remote_file: "${folder}/made {{target}}", host_output_file: got/file.bin`,
      ),
      { target: "$(id)" },
    );
    expect(status).toBe("completed");
    expect(await readFile(join(workspace, "out.txt"), "utf8")).toBe("done");
    expect([...(await readFile(join(workspace, "got/file.bin")))]).toEqual([97, 0, 98, 255]);
  });

  test.each([
    [
      "step_remote_file: /no/such/file, host_output_file: f",
      /step_remote_file: \/no\/such\/file could not be copied: .*No such file/,
    ],
    ["step_remote_file: /etc, host_output_file: f", /could not be copied: .*directory/],
    ["step_remote_file: /etc/hostname, host_output_file: ../../f", /host_output_file: .*REMOTE_VOLUME_ROOTS/],
    [
      "step_remote_file: /etc/hostname, host_output_file: /etc/weft-no",
      /host_output_file: .*REMOTE_VOLUME_ROOTS/,
    ],
  ])("a failed copy fails the step: %s", async (fields, message) => {
    const { steps } = await runSteps(weft, ssh("s", `command: "true", ${fields}`));
    expect(steps["s"]?.status).toBe("failed");
    expect(steps["s"]?.error_message).toMatch(message);
  });
});

describe("the end of a remote command", () => {
  test("comes at its timeout, also for its child processes", async () => {
    const seconds = uniqueSeconds();
    const { steps } = await runSteps(
      weft,
      ssh(
        "s",
        `command: "trap '' TERM HUP; setsid sleep ${seconds} & sleep ${seconds} & echo up; sleep ${seconds}; echo no", timeout: 5`,
      ),
    );
    expect(steps["s"]?.error_message).toMatch(/^command timed out after \d+ ms$/);
    await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 5_000);
  });

  test("comes when the run is cancelled", async () => {
    const seconds = uniqueSeconds();
    const { runId } = await startSteps(weft, ssh("s", `command: "sleep ${seconds}"`));
    await waitUntil("the command runs", async () => (await processesWith(seconds)).length > 0);
    await weft.call("DELETE", `/runs/${runId}`);
    expect((await weft.waitForRun(runId)).status).toBe("cancelled");
    await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 5_000);
  });

  test("ends its background processes without waiting for them", async () => {
    const seconds = uniqueSeconds();
    const { steps } = await runSteps(
      weft,
      ssh("s", `command: "sleep ${seconds} & setsid sleep ${seconds} & echo started"`),
    );
    expect(steps["s"]).toMatchObject({ status: "completed", output: "started" });
    await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 5_000);
  });

  test("comes when Weft is killed", async () => {
    const seconds = uniqueSeconds();
    const other = await startTestServer({
      env: { SSH_KNOWN_HOSTS: knownHosts },
      files: { "keys/user": await readFile(sshd.keyPath, "utf8") },
    });
    try {
      await startSteps(other, ssh("s", `command: "sleep ${seconds}"`));
      await waitUntil("the command runs", async () => (await processesWith(seconds)).length > 0);
      await other.kill();
      await waitUntil("no process is left", async () => (await processesWith(seconds)).length === 0, 10_000);
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });
});

describe("threats 17 and 25: keys and hosts", () => {
  const failure = async (config: string, files = ""): Promise<string> => {
    const { steps } = await runSteps(weft, files + ssh("s", 'command: "echo ran"', config));
    expect(steps["s"]?.status).toBe("failed");
    return steps["s"]?.error_message ?? "";
  };

  test("accepts a key given by a secret", async () => {
    const config = `{${HOST}, key_file: "{{secrets.DEPLOY_KEY}}"}`;
    const { steps } = await runSteps(weft, ssh("s", 'command: "echo ran"', config));
    expect(steps["s"]).toMatchObject({ status: "completed", output: "ran" });
  });

  test("fails for a key that the host rejects", async () => {
    expect(await failure(`{${HOST}, key_file: stranger}`)).toBe(
      `127.0.0.1:${sshd.port} rejected the key of user ${sshd.user}`,
    );
  });

  test.each(["/etc/shadow", "../access-token", "../../../../etc/passwd", "."])(
    "rejects a key outside the keys folder: %s",
    async (path) => {
      const message = await failure(`{${HOST}, key_file: "${path}"}`);
      expect(message).toMatch(/^step_runner_config\.key_file: /);
      expect(message).toContain("REMOTE_KEYS_DIR");
    },
  );

  test("rejects a host whose key is not in known_hosts", async () => {
    await writeFile(knownHosts, "");
    const message = await failure(CONFIG);
    await writeFile(knownHosts, sshd.knownHostsLine);
    expect(message).toMatch(/host key of 127\.0\.0\.1:\d+ is unknown: SHA256:[\w+/]{43} \(ssh-ed25519\)/);
    expect(message).toContain("SSH_KNOWN_HOSTS");
    expect(message).toContain(sshd.knownHostsLine.trim());
  });

  test("rejects a host whose key has changed", async () => {
    await writeFile(knownHosts, sshd.wrongKnownHostsLine);
    const message = await failure(CONFIG);
    await writeFile(knownHosts, sshd.knownHostsLine);
    expect(message).toMatch(/host key of 127\.0\.0\.1:\d+ has changed: it is now SHA256:/);
  });

  test("fails for an unreachable host", async () => {
    expect(await failure("{host: 127.0.0.1, port: 1, user: nobody, key_file: user}")).toMatch(
      /^127\.0\.0\.1:1 cannot be reached by ssh: .*ECONNREFUSED/,
    );
  });
});
