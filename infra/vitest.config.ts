import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { testDefaults } from "./vitest-defaults.ts";

export default defineConfig({
  test: {
    ...testDefaults,
    // For tests that hang: a busy machine takes ten times as long as an idle one.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Many tests wait for processes: one worker more keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{lib,functions,client}/**/*.test.ts"],
          // The files of a worker share its process and its modules: to load them takes half of the time otherwise.
          isolate: false,
          setupFiles: ["lib/testing/test-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: ["{infra,localstack,bin,examples,bench,tests/faults,web}/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          globalSetup: "tests/e2e/vitest-setup.ts",
          isolate: false,
        },
      },
    ],
  },
});
