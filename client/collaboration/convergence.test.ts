import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, it } from "vitest";
import { documentCallHandler } from "../../lib/app/compose.ts";
import { compactLog } from "../../lib/documents/updates/compact.ts";
import { type ConverterProcess, converterProcess } from "../../lib/platform/embedded/converter/client.ts";
import type { Log } from "../../lib/platform/log.ts";
import { TEST_TOKEN, type TestDeps, testClock, testDeps } from "../../lib/testing/test-deps.ts";
import { type TestGateway, testGateway } from "../../lib/testing/test-gateway.ts";
import { type ConvergenceServer, checkConvergence } from "./test-convergence.ts";

/** Versions of different periods are kept. */
const PERIOD_MS = 6 * 60_000;
/** Log records that are shown if it fails. */
const LOGGED_MAX = 30;

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let converter: ConverterProcess;
let folder: string;
let server: InProcessServer;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  folder = await mkdtemp(join(tmpdir(), "weft-convergence-"));
  server = new InProcessServer();
  await server.start();
});
afterAll(async () => {
  await server?.stop();
  await converter.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** The server in this process. It ends only in an orderly way. */
class InProcessServer implements ConvergenceServer {
  readonly token = TEST_TOKEN;
  readonly #clock = testClock();
  #test: TestDeps | undefined;
  #gateway: TestGateway | undefined;
  origin = "";

  async start(): Promise<void> {
    this.#test = await testDeps({ folder, converter, clock: this.#clock });
    const port = this.origin === "" ? 0 : Number(new URL(this.origin).port);
    this.#gateway = await testGateway(this.#test, { collaboration: true, port });
    this.origin = this.#gateway.url;
  }

  async stop(): Promise<void> {
    await this.#gateway?.close();
    await this.#test?.close();
  }

  async restart(): Promise<void> {
    await this.stop();
    // Ids of versions are in the order of time.
    this.#clock.advance(1);
    await this.start();
  }

  async append(id: string, text: string): Promise<void> {
    const by = { call: randomUUID(), cause: { run_id: "run", workflow_name: "w", hop: 0 } };
    await documentCallHandler(this.#deps)({ of: "more text", id, text }, by);
  }

  async compact(id: string): Promise<void> {
    await compactLog(this.#deps, id);
  }

  beginPeriod(): void {
    this.#clock.advance(PERIOD_MS);
  }

  logOf(id: string): readonly string[] {
    const lines = (this.#test?.logs ?? []).map((record) => JSON.stringify(record));
    return lines.filter((line) => line.includes(id)).slice(-LOGGED_MAX);
  }

  get #deps() {
    if (this.#test === undefined) throw new Error("the server is not started");
    return this.#test.deps;
  }
}

it("clients of all kinds converge, and what they saw as saved is there", async () => {
  await checkConvergence(server, { runs: 3, actionsMax: 40 });
});
