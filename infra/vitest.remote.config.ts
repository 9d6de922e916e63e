import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { testDefaults } from "./vitest-defaults.ts";

/** remote-bash steps against a real container engine and a real sshd, both started here. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/e2e/*.remote.ts"],
    globalSetup: "infra/emulators/vitest-remote-setup.ts",
    testTimeout: 90_000,
    hookTimeout: 90_000,
    maxWorkers: availableParallelism(),
  },
});
