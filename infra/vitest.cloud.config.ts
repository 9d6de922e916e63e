import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests against AWS emulators: at `AWS_ENDPOINT_URL`, or started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["{lib,infra,localstack,tests}/**/*.cloud.ts"],
    globalSetup: "infra/emulators/vitest-setup.ts",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: availableParallelism(),
  },
});
