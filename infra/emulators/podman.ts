import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEngine } from "./engine-child.ts";

const run = promisify(execFile);

/** A real container engine that speaks Docker's protocol, with one image. */
export interface Podman {
  /** For `DOCKER_HOST`. */
  readonly dockerHost: string;
  readonly image: string;
  stop(): Promise<void>;
}

const IMAGE = "weft-test-image:latest";
/** busybox without bash: the minimum that a container needs. */
const BUSYBOX_PATHS = ["/bin/busybox", "/usr/bin/busybox"];
const APPLETS =
  "sh cat head grep env sleep setsid id pwd ls seq yes wc mkdir touch rm stat ps date chmod ip".split(" ");

/**
 * Starts podman's service on a socket in a temporary folder. Rejects if a requirement is missing: root, and Debian's
 * `podman`, `runc` and `busybox-static`.
 */
export async function startPodman(): Promise<Podman> {
  const folder = await mkdtemp(join(tmpdir(), "weft-podman-"));
  const env = {
    CONTAINERS_CONF: join(folder, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
  };
  const podman = (...args: string[]) =>
    run("podman", args, { env: { ...process.env, ...env }, timeout: 60_000 });
  const remove = async (): Promise<void> => {
    await podman("rm", "--all", "--force", "--time", "0").catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await writeFile(env.CONTAINERS_CONF, CONTAINERS_CONFIG);
    await writeFile(env.CONTAINERS_STORAGE_CONF, storageConfig(folder));
    await importImage(folder, podman);
    const socketPath = join(folder, "engine.sock");
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const service = ["podman", "system", "service", "--time=0", `unix://${socketPath}`];
    const engine = await startEngine({
      name: "podman",
      argv: ["env", ...variables, ...service],
      cwd: folder,
      port: 0,
      onEnd: `env ${variables.join(" ")} podman rm --all --force --time 0 >/dev/null 2>&1\n${killMonitors(folder)}`,
      isReady: () => isListening(socketPath),
    });
    return {
      dockerHost: `unix://${socketPath}`,
      image: IMAGE,
      stop: async () => {
        await engine.stop();
        await remove();
      },
    };
  } catch (error) {
    const log = await readFile(join(folder, "engine.log"), "utf8").catch(() => "");
    await remove();
    throw new Error(`podman did not start: ${(error as Error).message} ${log.slice(-2_000)}`, {
      cause: error,
    });
  }
}

/** The monitor process of a container command keeps running for minutes after the command ends. */
const killMonitors = (folder: string): string =>
  `for p in /proc/[0-9]*; do
  [ "$(cat $p/comm 2>/dev/null)" = conmon ] && grep -q "${folder}/" $p/cmdline && kill -KILL "\${p#/proc/}"
done`;

/** runc instead of crun, no overlay, no systemd cgroups: what works inside a container. */
const CONTAINERS_CONFIG = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`;

const storageConfig = (folder: string): string => `[storage]
driver = "vfs"
graphroot = "${join(folder, "graph")}"
runroot = "${join(folder, "run")}"
`;

/** Needs no registry: the image is a root folder with busybox in it. */
async function importImage(folder: string, podman: (...args: string[]) => Promise<unknown>): Promise<void> {
  const root = join(folder, "root");
  await mkdir(join(root, "bin"), { recursive: true });
  await mkdir(join(root, "tmp"), { mode: 0o777 });
  await copyFirst(BUSYBOX_PATHS, join(root, "bin", "busybox"));
  await Promise.all(APPLETS.map((applet) => symlink("busybox", join(root, "bin", applet))));
  const archive = join(folder, "root.tar");
  await run("tar", ["-C", root, "-cf", archive, "."]);
  await podman("import", "--quiet", archive, IMAGE);
}

async function copyFirst(paths: readonly string[], to: string): Promise<void> {
  for (const path of paths) {
    const copied = await copyFile(path, to).then(
      () => true,
      () => false,
    );
    if (copied) return;
  }
  throw new Error("busybox not found: install busybox-static");
}

function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ping = request({ socketPath, path: "/_ping" }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once("error", () => resolve(false));
    ping.end();
  });
}
