import { defineConfig } from "vitest/config";

/** The server over LocalStack: at `AWS_ENDPOINT_URL`, else over one that is installed and started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["tests/e2e/*.{localstack,cloud}.ts"],
    globalSetup: "infra/emulators/vitest-localstack-setup.ts",
    testTimeout: 300_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Every test has a server of its own, and LocalStack is a single process.
    maxWorkers: 1,
  },
});
