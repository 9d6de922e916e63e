import { afterEach, beforeEach } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { mountPrivate, type PrivateMount } from "./mount.ts";

export const TOKEN = "token-of-the-disk-tests";
const SIZE = "4m";
/** Leaves room for a few dozen records of 20 kB. */
const BALLAST_BYTES = 2_200_000;

/** A server whose data folder is a small disk; each test has its own. */
export interface SmallDisk {
  /** The server that was started last. */
  readonly weft: TestServer;
  start(): Promise<void>;
  /** Leaves little space, or none. */
  fill(how?: "nearly" | "completely"): Promise<void>;
  /** Frees the space again. */
  free(): Promise<void>;
  sh: PrivateMount["sh"];
}

/** Mounts the disk before each test; afterwards kills the server and removes the disk. */
export function useSmallDisk(): SmallDisk {
  let mount: PrivateMount;
  let weft: TestServer | undefined;
  beforeEach(async () => {
    mount = await mountPrivate(SIZE);
  });
  afterEach(async () => {
    await weft?.[Symbol.asyncDispose]();
    weft = undefined;
    await mount[Symbol.asyncDispose]();
  });
  const sh = async (command: string): Promise<string> => mount.sh(command);
  return {
    get weft() {
      if (weft === undefined) throw new Error("the server is not started");
      return weft;
    },
    start: async () => {
      const env = { WEFT_ACCESS_TOKEN: TOKEN };
      weft = await startTestServer({ program: mount.server, dataDir: mount.path, env });
    },
    fill: async (how = "nearly") => {
      await sh(
        how === "nearly"
          ? `head -c ${BALLAST_BYTES} /dev/zero > "$0/ballast"`
          : 'cat /dev/zero > "$0/ballast" || true',
      );
    },
    free: async () => {
      await sh('rm "$0/ballast"');
    },
    sh,
  };
}
