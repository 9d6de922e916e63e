import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { listEngines } from "./test-engines.ts";

const { dockerHost, image, sshd } = listEngines();
const guide = await readFile(new URL("../../docs/steps/remote-bash.md", import.meta.url), "utf8");
const [inContainer = "", onHost = ""] = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, yaml]) => yaml,
);

let weft: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-guide-"));
  await writeFile(join(folder, "known_hosts"), sshd.knownHostsLine);
  weft = await startTestServer({
    env: { DOCKER_HOST: dockerHost, SSH_KNOWN_HOSTS: join(folder, "known_hosts") },
    files: { "secrets.env": `DEPLOY_KEY="${await readFile(sshd.keyPath, "utf8")}"\n` },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe("the guide's examples", () => {
  test("run in a container, with a local image", async () => {
    await weft.storeWorkflow(inContainer.replace("alpine:3", image));
    const run = await weft.run({ module: "in-a-container", workspace: "w", target: "you & me" });
    expect(run.status).toBe("completed");
    expect((await weft.steps(run.run_id))["sort"]?.output).toBe("sorted for you & me");
    expect(await readFile(join(weft.dataDir, "workspaces/w/sorted.txt"), "utf8")).toBe("a\nb\n");
  });

  test("run on a host, which is this machine", async () => {
    const here = onHost
      .replace("backup.example.com", "127.0.0.1")
      .replace("port: 22", `port: ${sshd.port}`)
      .replace("user: deploy", `user: ${sshd.user}`)
      .replace("workdir: /tmp", `workdir: ${folder}`);
    await weft.storeWorkflow(here);
    const run = await weft.run({ module: "on-a-host", workspace: "w" });
    expect(run.status).toBe("completed");
    const steps = await weft.steps(run.run_id);
    expect(steps["disk"]?.output).toBe("2");
    expect(steps["show"]?.output).toMatch(/^Filesystem/);
  });
});
