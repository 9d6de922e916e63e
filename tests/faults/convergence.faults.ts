import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { type ConvergenceServer, checkConvergence } from "../../client/collaboration/test-convergence.ts";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

/** Appends a line of text to a document. */
const APPENDING = `
name: appending
params: [{name: document, required: true}, {name: text, required: true}]
steps:
  - name: append
    type: function
    function: 'document_append(document, text)'
`;

/** A server in its own process, which `kill -9` ends. */
class KilledServer implements ConvergenceServer {
  readonly #dataDir: string;
  #weft: TestServer;

  private constructor(dataDir: string, weft: TestServer) {
    this.#dataDir = dataDir;
    this.#weft = weft;
  }

  static async start(dataDir: string): Promise<KilledServer> {
    const weft = await startTestServer({ dataDir });
    await weft.storeWorkflow(APPENDING);
    return new KilledServer(dataDir, weft);
  }

  get origin(): string {
    return this.#weft.url;
  }

  get token(): string {
    return this.#weft.token;
  }

  async restart(how: "stop" | "kill"): Promise<void> {
    const { port: PORT } = new URL(this.origin);
    await this.#weft[how]();
    this.#weft = await startTestServer({ dataDir: this.#dataDir, env: { PORT } });
  }

  async append(document: string, text: string): Promise<void> {
    const { status } = await this.#weft.run({ module: "appending", params: { document, text } });
    if (status !== "completed") throw new Error(`the run ended as ${status}`);
  }

  async kill(): Promise<void> {
    await this.#weft.kill();
  }
}

test("clients of all kinds converge after each kill -9 of the server, and what they saw as saved is there", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-convergence-killed-"));
  const server = await KilledServer.start(dataDir);
  try {
    await checkConvergence(server, { runs: 5, actionsMax: 40, restarts: 4 });
  } finally {
    await server.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});
