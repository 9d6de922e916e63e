import { defineConfig } from "vitest/config";
import { testDefaults } from "./vitest-defaults.ts";

/** Server tests on LocalStack: at `AWS_ENDPOINT_URL`, or installed and started here. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/e2e/*.{localstack,cloud}.ts"],
    globalSetup: "infra/emulators/vitest-localstack-setup.ts",
    testTimeout: 300_000,
    hookTimeout: 60_000,
    // Every test has its own server, and LocalStack is a single process.
    maxWorkers: 1,
  },
});
