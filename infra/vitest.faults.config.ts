import { defineConfig } from "vitest/config";
import { testDefaults } from "./vitest-defaults.ts";

/** Fault tests that are slow, or that need root or user namespaces. `npm test` does not run them. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/faults/**/*.faults.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
