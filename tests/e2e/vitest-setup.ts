import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedServer: {
      readonly url: string;
      readonly dataDir: string;
      readonly token: string;
      readonly logPath: string;
    };
  }
}

let folder: string;
let server: TestServer | undefined;

/** Global setup: starts the server of all end-to-end tests that need no server of their own. */
export async function setup({ provide }: TestProject): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "weft-e2e-shared-"));
  const logPath = join(folder, "server.log");
  server = await startTestServer({ dataDir: join(folder, "data"), logPath });
  const { url, dataDir, token } = server;
  provide("sharedServer", { url, dataDir, token, logPath });
}

export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
