import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** remote-bash steps against a real container engine and a real sshd, both started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["tests/e2e/*.remote.ts"],
    globalSetup: "infra/emulators/vitest-remote-setup.ts",
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    maxWorkers: availableParallelism(),
  },
});
