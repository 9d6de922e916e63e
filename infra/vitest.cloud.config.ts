import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./longest-first.ts";
import { testDefaults } from "./vitest-defaults.ts";

/** Tests against AWS emulators: at `AWS_ENDPOINT_URL`, or started here. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["{lib,infra,localstack,tests,bench}/**/*.cloud.ts"],
    globalSetup: "infra/emulators/vitest-setup.ts",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Most of them wait for servers that are killed, and for messages that become visible again.
    maxWorkers: availableParallelism() + 1,
    sequence: {
      sequencer: longestFirst([
        "roles.cloud.ts",
        "worker.cloud.ts",
        "documents.cloud.ts",
        "outage.cloud.ts",
        "kill.cloud.ts",
        "collaboration-nodes.cloud.ts",
        "storm.cloud.ts",
      ]),
    },
  },
});
