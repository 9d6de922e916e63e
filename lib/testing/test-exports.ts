import { afterAll, afterEach, beforeAll } from "vitest";
import { type ConverterProcess, converterProcess } from "../platform/embedded/converter/client.ts";
import { type RendererProcess, rendererProcess } from "../platform/embedded/renderer/client.ts";
import type { Log } from "../platform/log.ts";
import { type TestDeps, testDeps } from "./test-deps.ts";
import { type TestGateway, testGateway } from "./test-gateway.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

/** A document service of one test that exports. */
export interface TestExports {
  readonly test: TestDeps;
  readonly gateway: TestGateway;
}

/**
 * Starts the processes that read and write documents once for all tests of a file. The returned function opens a
 * document service of its own for a test, in `beforeEach`; it is closed after the test.
 */
export function testExports(settings: Readonly<Record<string, string>> = {}): () => Promise<TestExports> {
  let converter: ConverterProcess;
  let renderer: RendererProcess;
  let opened: TestExports | undefined;
  beforeAll(() => {
    converter = converterProcess({ log: silent });
    renderer = rendererProcess({ log: silent });
  });
  afterAll(async () => {
    await converter.close();
    await renderer.close();
  });
  afterEach(async () => {
    await opened?.gateway.close();
    await opened?.test.close();
    opened = undefined;
  });
  return async () => {
    const test = await testDeps({ converter, renderer, settings });
    opened = { test, gateway: await testGateway(test) };
    return opened;
  };
}
