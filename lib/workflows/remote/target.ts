import { mkdir, readFile, stat } from "node:fs/promises";
import { isAbsolute, posix, resolve } from "node:path";
import { StepFailedError } from "../engine/step-failure.ts";
import type { RemoteRunnerConfig } from "../schema/types.ts";
import { allowedPath } from "./allowed-paths.ts";
import type { DockerTarget, Mount, RemoteSettings, SshTarget } from "./machine.ts";

/** Network names, except modes with a colon: those join another container's network. */
const NETWORK = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9_./:@-]{0,254}$/;
const HOST = /^[A-Za-z0-9_:][A-Za-z0-9_.:%-]{0,254}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const VOLUME_MODES: ReadonlySet<string> = new Set(["ro", "rw"]);
const SSH_PORT = 22;
const SSH_USER = "root";

/** Rejects a field of `step_runner_config`. */
function refuse(field: string, why: string): never {
  throw new StepFailedError(`step_runner_config.${field}: ${why}`);
}

/** Parses the container of a rendered configuration. Throws StepFailedError, naming the field and the setting. */
export async function dockerTarget(
  config: RemoteRunnerConfig,
  { settings, workspace }: { readonly settings: RemoteSettings; readonly workspace: string },
): Promise<DockerTarget> {
  const image = required(config, "image");
  if (!IMAGE.test(image)) refuse("image", "is not a valid image name");
  const { network, workdir, user } = present(config);
  if (network !== undefined) checkNetwork(network, settings);
  if (workdir !== undefined && !workdir.startsWith("/")) refuse("workdir", "must be absolute in a container");
  const mounts: Mount[] = [];
  for (const [index, volume] of (config.volumes ?? []).entries())
    mounts.push(await mountOf(volume, `volumes[${index}]`, settings, workspace));
  return {
    image,
    mounts,
    persistent: config.persistent ?? false,
    ...(network === undefined ? {} : { network }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
  };
}

function checkNetwork(network: string, { hostNetwork }: RemoteSettings): void {
  if (network.toLowerCase() === "host" && !hostNetwork)
    refuse("network", "host is only allowed if the setting REMOTE_HOST_NETWORK is true");
  if (!NETWORK.test(network)) refuse("network", "must be none, bridge or the name of a network");
}

/** `host:container`, optionally with `:ro` or `:rw`. A relative host path starts at the workspace. */
async function mountOf(
  volume: string,
  field: string,
  { volumeRoots }: RemoteSettings,
  workspace: string,
): Promise<Mount> {
  const parts = volume.split(":");
  const mode = parts.length > 2 && VOLUME_MODES.has(parts.at(-1) ?? "") ? parts.pop() : "rw";
  const target = parts.pop() ?? "";
  const host = parts.join(":");
  if (host === "" || !target.startsWith("/") || posix.normalize(target) === "/" || target.includes("\0"))
    refuse(field, "must be host:container, with an absolute path in the container, and may end in :ro");
  if (!/[/\\]|^\.{1,2}$/.test(host))
    refuse(field, `named volumes are not available: write ./${host}:${target} for a folder of the workspace`);
  const wanted = isAbsolute(host) ? host : resolve(workspace, host);
  const source = await judged(field, wanted, [workspace, ...volumeRoots]);
  await mkdir(source, { recursive: true }).catch((error: unknown) => {
    // An existing file can be mounted too.
    if ((error as { code?: unknown }).code !== "EEXIST") refuse(field, `cannot be created: ${codeOf(error)}`);
  });
  return { source, target: posix.normalize(target), readOnly: mode === "ro" };
}

async function judged(field: string, path: string, roots: readonly string[]): Promise<string> {
  const source = await allowedPath(path, roots).catch((error: unknown) =>
    refuse(field, `cannot be read: ${codeOf(error)}`),
  );
  if (source !== undefined) return source;
  return refuse(field, "must be in the run's workspace or in a folder of the setting REMOTE_VOLUME_ROOTS");
}

/** Parses the host of a rendered configuration. Throws StepFailedError, naming the field and the setting. */
export async function sshTarget(config: RemoteRunnerConfig, settings: RemoteSettings): Promise<SshTarget> {
  const host = required(config, "host");
  if (!HOST.test(host)) refuse("host", "is not a valid host name or address");
  const { user = SSH_USER, key_file: keyFile, password, workdir } = present(config);
  if (keyFile === undefined && password === undefined)
    refuse("key_file", "is required: set key_file or password");
  return {
    host,
    port: portOf(config.port),
    user,
    ...(keyFile === undefined ? {} : { privateKey: await privateKey(keyFile, settings) }),
    ...(password === undefined ? {} : { password }),
    ...(workdir === undefined ? {} : { workdir }),
  };
}

function portOf(text: string | undefined): number {
  if (text === undefined || text.trim() === "") return SSH_PORT;
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : refuse("port", "must be a port, 1 to 65535");
}

const KEY_MAX_BYTES = 64 * 1024;

/** The key itself, as stored in a secret, or the name of a file in the folder of keys. */
async function privateKey(value: string, { keysDir }: RemoteSettings): Promise<string> {
  if (value.trimStart().startsWith("-----BEGIN ")) return `${value.trim()}\n`;
  const path = await allowedPath(resolve(keysDir, value), [keysDir]).catch(() => undefined);
  if (path === undefined)
    refuse(
      "key_file",
      "must be a file in the folder that the setting REMOTE_KEYS_DIR names, or the key as a secret: {{secrets.NAME}}",
    );
  try {
    const { size } = await stat(path);
    if (size > KEY_MAX_BYTES) refuse("key_file", `has more than ${KEY_MAX_BYTES} bytes`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof StepFailedError) throw error;
    return refuse("key_file", `cannot be read in the folder of REMOTE_KEYS_DIR: ${codeOf(error)}`);
  }
}

/** Environment variables of the commands. Throws StepFailedError for a name that a shell does not allow. */
export function environmentOf({ env = {} }: RemoteRunnerConfig): Readonly<Record<string, string>> {
  for (const name of Object.keys(env))
    if (!ENV_NAME.test(name))
      refuse(`env.${name}`, "is not a valid variable name: use letters, digits and '_'");
  return env;
}

type Texts = "image" | "network" | "workdir" | "user" | "host" | "key_file" | "password";

/** Omits fields whose templates render to empty text. */
function present(config: RemoteRunnerConfig): Partial<Record<Texts, string>> {
  const names: readonly Texts[] = ["image", "network", "workdir", "user", "host", "key_file", "password"];
  const given: Partial<Record<Texts, string>> = {};
  for (const name of names) {
    const value = config[name];
    if (value?.includes("\0")) refuse(name, "must not contain a NUL");
    if (value !== undefined && value.trim() !== "") given[name] = value;
  }
  return given;
}

function required(config: RemoteRunnerConfig, name: "image" | "host"): string {
  return present(config)[name]?.trim() ?? refuse(name, "is required");
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? error);
