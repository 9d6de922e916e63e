import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEngine } from "./engine-child.ts";

const run = promisify(execFile);

/** A real sshd on the loopback address, for the current user only. */
export interface Sshd {
  readonly port: number;
  readonly user: string;
  /** A private key that the server accepts, and one that it rejects. */
  readonly keyPath: string;
  readonly unauthorizedKeyPath: string;
  /** The server's line in a known_hosts file, and a line for the same host with another key. */
  readonly knownHostsLine: string;
  readonly wrongKnownHostsLine: string;
  stop(): Promise<void>;
}

/** Generates keys and starts sshd in a temporary folder. Rejects if Debian's `openssh-server` is not installed. */
export async function startSshd(): Promise<Sshd> {
  const folder = await mkdtemp(join(tmpdir(), "weft-sshd-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const names = ["host", "other-host", "user", "stranger"];
    await Promise.all(names.map((name) => makeKey(join(folder, name))));
    await appendFile(join(folder, "authorized_keys"), await publicKey(folder, "user"));
    const port = await freePort();
    await writeFile(join(folder, "config"), sshdConfig(folder, port));
    // sshd's privilege separation needs a folder that packages create only at boot.
    if (userInfo().uid === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
    const argv = ["/usr/sbin/sshd", "-D", "-e", "-f", join(folder, "config")];
    const isReady = () => speaksSsh(port);
    const sshd = await startEngine({ name: "sshd", argv, cwd: folder, port, isReady });
    const knownHostsLineOf = async (name: string): Promise<string> =>
      `[127.0.0.1]:${port} ${(await publicKey(folder, name)).split(" ").slice(0, 2).join(" ")}\n`;
    return {
      port,
      user: userInfo().username,
      keyPath: join(folder, "user"),
      unauthorizedKeyPath: join(folder, "stranger"),
      knownHostsLine: await knownHostsLineOf("host"),
      wrongKnownHostsLine: await knownHostsLineOf("other-host"),
      stop: async () => {
        await sshd.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function makeKey(path: string): Promise<void> {
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path]);
}

const publicKey = (folder: string, name: string): Promise<string> =>
  readFile(join(folder, `${name}.pub`), "utf8");

function sshdConfig(folder: string, port: number): string {
  return [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    "PidFile none",
    // The folder for temporary files is world-writable.
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin prohibit-password",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "",
  ].join("\n");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

function speaksSsh(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(chunk.toString("latin1").startsWith("SSH-2.0-"));
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}
