import { describe, expect, it } from "vitest";
import { readConfig } from "../../settings/config.ts";
import { remoteSettings } from "./settings.ts";

const read = (environment: Record<string, string>) => remoteSettings(readConfig(environment).remote, "/data");

describe("the settings of remote-bash steps", () => {
  it("allow only the workspace by default", () => {
    const settings = read({ DOCKER_HOST: "", REMOTE_VOLUME_ROOTS: "" });
    expect(settings).toMatchObject({ volumeRoots: [], hostNetwork: false, keysDir: "/data/keys" });
    expect(settings.dockerHost).toBeUndefined();
    expect(settings.knownHostsPath).toMatch(/\/\.ssh\/known_hosts$/);
  });

  it("are read from the environment", () => {
    const environment = {
      DOCKER_HOST: "tcp://127.0.0.1:2375",
      REMOTE_VOLUME_ROOTS: "/srv/lists:/srv/../opt/x",
      REMOTE_HOST_NETWORK: "true",
      REMOTE_KEYS_DIR: "/srv/keys",
      SSH_KNOWN_HOSTS: "/srv/known_hosts",
    };
    expect(read(environment)).toEqual({
      dockerHost: "tcp://127.0.0.1:2375",
      volumeRoots: ["/srv/lists", "/opt/x"],
      hostNetwork: true,
      keysDir: "/srv/keys",
      knownHostsPath: "/srv/known_hosts",
    });
  });

  it.each(["lists", "/a:b", "./x"])("reject a root that is not absolute: %s", (roots) => {
    expect(() => read({ REMOTE_VOLUME_ROOTS: roots })).toThrow(/REMOTE_VOLUME_ROOTS: must be absolute paths/);
  });
});
