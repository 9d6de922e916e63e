import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { RemoteConfig } from "../../settings/config.ts";
import type { RemoteSettings } from "./machine.ts";

/** The restrictions of this machine, with defaults. */
export function remoteSettings(config: RemoteConfig, dataDir: string): RemoteSettings {
  const { dockerHost, volumeRoots, hostNetwork, keysDir, knownHostsPath } = config;
  return {
    dockerHost,
    hostNetwork,
    volumeRoots: volumeRoots.map((root) => resolve(root)),
    keysDir: keysDir === undefined ? join(dataDir, "keys") : resolve(keysDir),
    knownHostsPath: resolve(knownHostsPath ?? join(homedir(), ".ssh", "known_hosts")),
  };
}
