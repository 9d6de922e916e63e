import { defineConfig } from "vitest/config";

/** Fault tests that are slow, or that need root or user namespaces. `npm test` does not run them. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["tests/faults/**/*.faults.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
