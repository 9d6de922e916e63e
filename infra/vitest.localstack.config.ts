import { defineConfig } from "vitest/config";

/** The server over LocalStack: at `AWS_ENDPOINT_URL`, else over one that is installed and started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["localstack/e2e/localstack.*.ts", "localstack/e2e/*.cloud.ts"],
    globalSetup: "infra/emulators/vitest-localstack-setup.ts",
    testTimeout: 300_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
