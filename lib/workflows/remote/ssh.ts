import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientChannel, ConnectConfig, ServerHostKeyAlgorithm } from "ssh2";
import { StepFailedError } from "../engine/step-failure.ts";
import { follow, type RemoteProcess } from "./command.ts";
import {
  fingerprint,
  type KnownKeys,
  keyType,
  knownHostsLine,
  readKnownHosts,
  type Verdict,
} from "./known-hosts.ts";
import { killScript, LAUNCH_LINE, launcherInput } from "./launcher.ts";
import type { RemoteCommand, RemoteMachine, RemoteSettings, RemoteUse, SshTarget } from "./machine.ts";
import { type OutputFiles, pump } from "./output-files.ts";
import { earlierTokens } from "./tokens.ts";

const CONNECT_TIMEOUT_MS = 20_000;
/** Keepalive interval, milliseconds; a host that misses four is disconnected. */
const KEEPALIVE_MS = 15_000;
const KEEPALIVES_MISSED = 4;
/** Exit code that shells report for a program killed by SIGKILL. */
const KILLED = 137;
/** Maximum wait for a graceful disconnect, milliseconds. */
const CLOSE_MS = 3_000;
/** Time limit for killing processes of earlier attempts, milliseconds. */
const SWEEP_MS = 15_000;
/** Signature algorithms by key type. */
const ALGORITHMS: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  "ssh-ed25519": ["ssh-ed25519"],
  "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
  "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
  "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256"],
};

/**
 * Connects to a host whose key is in the known_hosts file. Processes of earlier attempts at the step are killed first.
 * Rejects with StepFailedError.
 */
export async function openSsh(
  target: SshTarget,
  use: RemoteUse,
  settings: RemoteSettings,
): Promise<RemoteMachine> {
  const client = await connect(target, use, settings);
  // The connection may be lost long before it is closed.
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  const { workdir } = target;
  const run = (command: RemoteCommand) =>
    follow(command, async (output) => {
      const input = launcherInput({ ...command, workdir });
      return startProcess(client, input, output);
    });
  const machine: RemoteMachine = {
    run,
    close: async () => {
      client.end();
      await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
      client.destroy();
    },
  };
  if (use.attempt > 1) {
    try {
      await endEarlier(client, use);
    } catch (error) {
      await machine.close();
      throw error;
    }
  }
  return machine;
}

/** Ignores failures: a machine without /proc cannot find the processes. */
async function endEarlier(client: Client, use: RemoteUse): Promise<void> {
  const stop = AbortSignal.any([use.signal, AbortSignal.timeout(SWEEP_MS)]);
  const discard = { write: async () => undefined };
  const script = killScript(earlierTokens(use));
  const process = await startProcess(client, launcherInput({ script, env: {}, token: "sweep" }), discard);
  stop.addEventListener("abort", () => process.abandon(), { once: true });
  await process.ended;
}

async function connect(target: SshTarget, use: RemoteUse, settings: RemoteSettings): Promise<Client> {
  const { host, port, user, privateKey, password } = target;
  const known = readKnownHosts(await readFile(settings.knownHostsPath, "utf8").catch(none), host, port);
  let refusal: StepFailedError | undefined;
  const { Client } = await import("ssh2");
  const client = new Client();
  const config: ConnectConfig = {
    host,
    port,
    username: user,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(password === undefined ? {} : { password, tryKeyboard: true }),
    ...preferred(known),
    readyTimeout: Math.min(CONNECT_TIMEOUT_MS, use.timeoutMs),
    keepaliveInterval: KEEPALIVE_MS,
    keepaliveCountMax: KEEPALIVES_MISSED,
    hostVerifier: (key: Buffer) => {
      refusal = refusalOf(known.judge(key), target, key);
      return refusal === undefined;
    },
  };
  const stop = (): void => void client.destroy();
  try {
    await new Promise<void>((resolve, reject) => {
      client.once("ready", resolve);
      client.on("error", reject);
      client.once("close", () => reject(new Error("the connection was closed")));
      client.on("keyboard-interactive", (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.map(() => password ?? "")),
      );
      use.signal.addEventListener("abort", stop, { once: true });
      client.connect(config);
    });
    return client;
  } catch (error) {
    client.destroy();
    throw refusal ?? connectFailure(error, target);
  } finally {
    use.signal.removeEventListener("abort", stop);
  }
}

/** Without the file no host is known. */
const none = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  if (code === "ENOENT") return "";
  throw new StepFailedError(`the file of SSH_KNOWN_HOSTS cannot be read: ${String(code)}`);
};

/** A host has keys of several types: requests a known one. */
function preferred({ types }: KnownKeys): Pick<ConnectConfig, "algorithms"> {
  const serverHostKey = types.flatMap((type) => ALGORITHMS[type] ?? []);
  return serverHostKey.length === 0 ? {} : { algorithms: { serverHostKey } };
}

function refusalOf(verdict: Verdict, { host, port }: SshTarget, key: Buffer): StepFailedError | undefined {
  const shown = `${fingerprint(key)} (${keyType(key)})`;
  switch (verdict) {
    case "known":
      return undefined;
    case "revoked":
      return new StepFailedError(`the host key of ${host}:${port} is revoked: ${shown}`);
    case "changed":
      return new StepFailedError(
        `the host key of ${host}:${port} has changed: it is now ${shown}. Someone may be intercepting the connection; if the change is intended, replace the key in the file of SSH_KNOWN_HOSTS`,
      );
    case "unknown":
      return new StepFailedError(
        `the host key of ${host}:${port} is unknown: ${shown}. If it is the key of the host, add this line to the file of SSH_KNOWN_HOSTS: ${knownHostsLine(host, port, key)}`,
      );
  }
}

function connectFailure(error: unknown, { host, port, user, privateKey }: SshTarget): StepFailedError {
  const { level, message = String(error) } = error as { level?: string; message?: string };
  if (level === "client-authentication") {
    const given = privateKey === undefined ? "password" : "key";
    return new StepFailedError(`${host}:${port} rejected the ${given} of user ${user}`);
  }
  if (/parse privateKey|private key/i.test(message))
    return new StepFailedError(`step_runner_config.key_file: not a usable private key: ${message}`);
  if (/no matching.*host key/i.test(message)) {
    return new StepFailedError(
      `the host key of ${host}:${port} has changed: the host offers none of the key types in the file of SSH_KNOWN_HOSTS`,
    );
  }
  return new StepFailedError(`${host}:${port} cannot be reached by ssh: ${message}`);
}

type Output = Pick<OutputFiles, "write">;

/** Events of a channel may arrive together with its opening, so listeners are added immediately. */
function startProcess(client: Client, input: Buffer, output: Output): Promise<RemoteProcess> {
  return new Promise((resolve, reject) => {
    const lost = (): void => reject(connectionLost());
    client.once("close", lost);
    try {
      client.exec(LAUNCH_LINE, (error, channel) => {
        client.removeListener("close", lost);
        if (error === undefined) resolve(processOf(client, channel, input, output));
        else reject(new StepFailedError(`the host does not start commands: ${error.message}`));
      });
    } catch {
      lost();
    }
  });
}

function processOf(client: Client, channel: ClientChannel, input: Buffer, output: Output): RemoteProcess {
  let exitCode: number | undefined;
  channel.on("exit", (code: number | null) => {
    // Without a code, a signal killed the launcher.
    exitCode = code ?? KILLED;
  });
  channel.on("error", () => undefined);
  const all = Promise.all([
    once(channel, "close"),
    pump(channel, (chunk) => output.write("stdout", chunk)),
    pump(channel.stderr, (chunk) => output.write("stderr", chunk)),
  ]);
  const ended = all.then(() => {
    if (exitCode === undefined) throw connectionLost();
    return exitCode;
  });
  ended.catch(() => undefined);
  channel.write(input);
  return { ended, kill: () => void channel.end(), abandon: () => void client.destroy() };
}

const connectionLost = (): StepFailedError => new StepFailedError("the connection to the host was lost");
