import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toCollaborationTemplate } from "../template/collaboration.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
let server: Server;
let dockerfile: string;
/** Requests that reached the services, by `Authorization` header. */
const credentials: string[] = [];
/** Whether the task's credentials endpoint got a request with this token. */
let asked: string | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-image-"));
  dockerfile = await readFile(new URL("Dockerfile", import.meta.url), "utf8");
  server = createServer((request, response) => {
    if (request.url === "/task-credentials") {
      asked = request.headers.authorization;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      response.end(JSON.stringify({ AccessKeyId: "TASKKEY", SecretAccessKey: "s", Token: "t", Expiration }));
      return;
    }
    credentials.push(request.headers.authorization ?? "none");
    response.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
    response.end('{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"none"}');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The image's folder, with the packages of this checkout instead of its own. */
async function unpack(): Promise<string> {
  const root = await mkdtemp(join(folder, "opt-"));
  for (const [, sources = ""] of dockerfile.matchAll(/^COPY (.+) \S+$/gm)) {
    for (const name of sources.split(" ")) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await cp(join(ROOT, name), join(root, name), { recursive: true });
    }
  }
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  return root;
}

/** Waits until the output matches. */
function output(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const found = pattern.exec(text);
      if (found !== null) resolve(found);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("exit", () => reject(new Error(text)));
  });
}

/** Starts a command of the image in its folder, with the environment of an ECS container and nothing else. */
function start(
  root: string,
  [, , command = "", ...argv]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  expect(command).toBe("node");
  return spawn(
    process.execPath,
    argv.map((one) => one.replace("/opt/weft", root)),
    { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, HOME: folder, ...env } },
  );
}

it("the image's files start a worker with the credentials of its task, which SIGTERM stops", async () => {
  const { port } = server.address() as AddressInfo;
  const entryPoint = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? "[]") as string[];
  const child = start(await unpack(), entryPoint, {
    WEFT_DATA_DIR: join(folder, "data"),
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/task-credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: "task-token",
  });
  try {
    await output(child, /weft worker ready {2}stack=weft[\s\S]*receiving messages failed/);
    expect(asked).toBe("task-token");
    expect(credentials.length).toBeGreaterThan(0);
    for (const header of credentials) expect(header).toContain("Credential=TASKKEY/");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
}, 60_000);

it("the image's files start the collaboration server as its stack does, which SIGTERM stops", async () => {
  const { port } = server.address() as AddressInfo;
  const { ContainerDefinitions } = toCollaborationTemplate().Resources.TaskDefinition!.Properties as {
    ContainerDefinitions: [{ EntryPoint: string[] }];
  };
  const child = start(await unpack(), ContainerDefinitions[0].EntryPoint, {
    HOST: "127.0.0.1",
    PORT: "0",
    COLLABORATION_SERVER_ORIGIN: "",
    COLLABORATION_BACKEND_BASE_URL: `http://127.0.0.1:${port}/live`,
    Y_PROVIDER_API_KEY: "a-key-for-tests",
  });
  try {
    const ready = await output(child, /weft collaboration ready {2}port=(\d+)/);
    const ping = await fetch(`http://127.0.0.1:${ready[1]}/ping`);
    expect([ping.status, await ping.json()]).toEqual([200, { message: "pong" }]);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
}, 60_000);

it("the image runs as an unprivileged user, below an init process that reaps orphaned steps", () => {
  expect(dockerfile).toMatch(/^USER weft$/m);
  expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--"/m);
  expect(dockerfile).not.toMatch(/AWS_(?:ACCESS|SECRET)/);
});
