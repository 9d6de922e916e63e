import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RemoteRunnerConfig } from "../schema/types.ts";
import type { RemoteSettings } from "./machine.ts";
import { dockerTarget, environmentOf, sshTarget } from "./target.ts";

let folder: string;
let workspace: string;
let settings: RemoteSettings;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "weft-target-")));
  workspace = join(folder, "workspaces", "w");
  for (const path of [workspace, join(folder, "shared"), join(folder, "shared-not"), join(folder, "keys")])
    await mkdir(path, { recursive: true });
  await writeFile(join(folder, "keys", "deploy"), "a key");
  await writeFile(join(folder, "token"), "a secret");
  await symlink("/etc", join(workspace, "out"));
  await symlink(join(folder, "shared"), join(workspace, "to-shared"));
  await symlink(join(folder, "token"), join(folder, "keys", "link"));
  await symlink("/nowhere/at/all", join(workspace, "dangling"));
  settings = {
    volumeRoots: [join(folder, "shared")],
    keysDir: join(folder, "keys"),
    knownHostsPath: join(folder, "known_hosts"),
    hostNetwork: false,
    dockerHost: undefined,
  };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const docker = (config: RemoteRunnerConfig, more: Partial<RemoteSettings> = {}) =>
  dockerTarget({ image: "alpine", ...config }, { settings: { ...settings, ...more }, workspace });
const ssh = (config: RemoteRunnerConfig) => sshTarget({ host: "h", key_file: "deploy", ...config }, settings);

describe("threat 25: volumes", () => {
  it.each([
    ["./data:/d", "workspaces/w/data", "/d", false],
    [".:/d:ro", "workspaces/w", "/d", true],
    ["./a/../b:/d/./e:rw", "workspaces/w/b", "/d/e", false],
    ["./to-shared/x:/d", "shared/x", "/d", false],
  ])("%s", async (volume, source, target, readOnly) => {
    const { mounts } = await docker({ volumes: [volume] });
    expect(mounts).toEqual([{ source: join(folder, source), target, readOnly }]);
  });

  it("accepts an absolute path in an allowed folder", async () => {
    const volume = `${join(folder, "shared")}:/d`;
    expect((await docker({ volumes: [volume] })).mounts[0]?.source).toBe(join(folder, "shared"));
    await expect(docker({ volumes: [volume] }, { volumeRoots: [] })).rejects.toThrow(/REMOTE_VOLUME_ROOTS/);
  });

  it.each([
    "/:/host",
    "/etc:/host",
    "/etc/passwd:/host",
    "/var/run/docker.sock:/var/run/docker.sock",
    "..:/host",
    "./../..:/host",
    "./a/../../..:/host",
    "./out:/host",
    "./out/ssl:/host",
    "./out/../etc:/host:ro",
    "./to-shared/../token:/host",
    "/proc/self/root:/host",
  ])("rejects a path outside the allowed folders: %s", async (volume) => {
    // `..` after a link is resolved lexically, so the workspace has no such folder.
    if (volume === "./out/../etc:/host:ro" || volume === "./to-shared/../token:/host") {
      const { mounts } = await docker({ volumes: [volume] });
      expect(mounts[0]?.source.startsWith(`${workspace}/`)).toBe(true);
      return;
    }
    await expect(docker({ volumes: ["./ok:/ok", volume] })).rejects.toThrow(
      /^step_runner_config\.volumes\[1\]: must be in .*REMOTE_VOLUME_ROOTS/,
    );
  });

  it("rejects a folder whose name only starts like an allowed one", async () => {
    await expect(docker({ volumes: [`${join(folder, "shared-not")}:/d`] })).rejects.toThrow(
      /must be in .*REMOTE_VOLUME_ROOTS/,
    );
  });

  it("rejects a dangling link", async () => {
    await expect(docker({ volumes: ["./dangling:/d"] })).rejects.toThrow(/step_runner_config\.volumes\[0\]/);
  });

  it.each(["data:/d", "./data", "./data:d", "./data:/", "./data:/a/..", ":/d", "./data:/d:z"])(
    "rejects an invalid volume: %s",
    async (volume) => {
      await expect(docker({ volumes: [volume] })).rejects.toThrow(/^step_runner_config\.volumes\[0\]: /);
    },
  );
});

describe("threat 25: networks and images", () => {
  it.each(["host", "HOST"])("allows %s only with the setting", async (network) => {
    await expect(docker({ network })).rejects.toThrow(/network: .*REMOTE_HOST_NETWORK/);
    expect((await docker({ network }, { hostNetwork: true })).network).toBe(network);
  });

  it.each(["container:abc", "ns:/proc/1/ns/net", "a b", "-x"])("rejects the network %s", async (network) => {
    await expect(docker({ network })).rejects.toThrow(/^step_runner_config\.network: /);
  });

  it("allows none, bridge and named networks", async () => {
    for (const network of ["none", "bridge", "scan_net-1"])
      expect((await docker({ network })).network).toBe(network);
    expect(await docker({ network: "" })).not.toHaveProperty("network");
  });

  it.each(["", "  ", "a b", "../x", "-v", "a?b"])("rejects the image %j", async (image) => {
    await expect(docker({ image })).rejects.toThrow(/^step_runner_config\.image: /);
  });

  it("rejects a relative working folder, and an invalid variable name", async () => {
    await expect(docker({ workdir: "tmp" })).rejects.toThrow(/workdir/);
    expect(() => environmentOf({ env: { "A B": "x" } })).toThrow(/env\.A B/);
  });
});

describe("threat 25: keys and hosts", () => {
  it("accepts a key by its name in the folder, or as text", async () => {
    expect(await ssh({})).toEqual({ host: "h", port: 22, user: "root", privateKey: "a key" });
    expect((await ssh({ key_file: join(folder, "keys/deploy") })).privateKey).toBe("a key");
    expect((await ssh({ key_file: " -----BEGIN X\na\n" })).privateKey).toBe("-----BEGIN X\na\n");
  });

  it.each(["/etc/shadow", "../token", "link", "deploy/../../token", "/proc/self/environ"])(
    "rejects a key outside the folder: %s",
    async (keyFile) => {
      await expect(ssh({ key_file: keyFile })).rejects.toThrow(
        /^step_runner_config\.key_file: .*REMOTE_KEYS_DIR/,
      );
    },
  );

  it.each(["missing", "."])("reports a key that cannot be read: %s", async (keyFile) => {
    await expect(ssh({ key_file: keyFile })).rejects.toThrow(/^step_runner_config\.key_file: cannot be read/);
  });

  it.each([
    [{ host: "" }, /host: is required/],
    [{ host: "-oProxyCommand=id" }, /host: is not a valid host name/],
    [{ host: "a b" }, /host: is not a valid host name/],
    [{ port: "0" }, /port: must be a port/],
    [{ port: "65536" }, /port: must be a port/],
    [{ port: "ssh" }, /port: must be a port/],
    [{ user: "a\0b" }, /user: must not contain a NUL/],
    [{ key_file: "" }, /key_file: is required: set key_file or password/],
  ] as const)("%j", async (config, message) => {
    await expect(ssh(config)).rejects.toThrow(message);
  });

  it("accepts a password instead of a key", async () => {
    expect(await ssh({ key_file: "", password: "p" })).toMatchObject({ password: "p" });
  });
});
