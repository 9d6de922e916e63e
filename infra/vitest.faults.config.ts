import { defineConfig } from "vitest/config";

/** The slow faults and those that need root or user namespaces; `npm test` leaves them out. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: [
      "localstack/faults/kill.test.ts",
      "localstack/faults/documents-killed.test.ts",
      "localstack/faults/**/*.faults.ts",
    ],
    env: { WEFT_KILL_ROUNDS: "10" },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 1,
  },
});
