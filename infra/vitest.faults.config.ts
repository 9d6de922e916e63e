import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./longest-first.ts";
import { testDefaults } from "./vitest-defaults.ts";

/** Fault tests that are slow, or that need root or user namespaces. `npm test` does not run them. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/faults/**/*.faults.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // They use less than half of the processor time of as many workers as processors.
    maxWorkers: availableParallelism() + 1,
    sequence: {
      sequencer: longestFirst([
        "kill.faults.ts",
        "imports-killed.faults.ts",
        "restarts.faults.ts",
        "documents-killed.faults.ts",
      ]),
    },
  },
});
