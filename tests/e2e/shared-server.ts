import { readFileSync } from "node:fs";
import { inject } from "vitest";
import { connectTestClient, type TestClient } from "../../lib/testing/test-server.ts";
import type {} from "./vitest-setup.ts";

/**
 * The server that end-to-end tests share, also with tests that run at the same time. Use workflows, workspaces and
 * topics with unique names, and no trigger that fires for events of other tests.
 */
export function sharedServer(): TestClient {
  const { url, dataDir, token, logPath } = inject("sharedServer");
  return connectTestClient({ url, dataDir, token, log: () => readFileSync(logPath, "utf8") });
}
