import { defineConfig } from "vitest/config";

/** Server tests on LocalStack: at `AWS_ENDPOINT_URL`, or installed and started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["tests/e2e/*.{localstack,cloud}.ts"],
    globalSetup: "infra/emulators/vitest-localstack-setup.ts",
    testTimeout: 300_000,
    hookTimeout: 60_000,
    // Its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    // Every test has its own server, and LocalStack is a single process.
    maxWorkers: 1,
  },
});
