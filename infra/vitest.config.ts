import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["{lib,functions,infra,localstack,bin,examples,bench,tests}/**/*.test.ts"],
    // For tests that hang: a busy machine takes ten times as long as an idle one.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    pool: "forks",
    maxWorkers: availableParallelism(),
  },
});
