import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Deps } from "../../lib/app/compose.ts";
import type { ProxyResult, StreamHandler } from "../../lib/http/handler.ts";
import type { ProxyEvent } from "../../lib/http/request.ts";
import { PRODUCT_VERSION } from "../../lib/product-version.ts";
import { type TestDeps, testDeps } from "../../lib/testing/test-deps.ts";
import { stubLambdaRuntime } from "../../lib/testing/test-lambda-runtime.ts";
import { collectPages, readLog, storeWorkflow } from "../../lib/testing/test-workflows.ts";
import { releaseOf } from "../../lib/upgrades/releases.ts";
import { listDeadLetters } from "../../lib/workflows/dead-letters/dead-letters.ts";
import {
  type BundleSize,
  bundle,
  configurationOf,
  type FunctionBuild,
  functionBuilds,
  samplesOf,
} from "./bundles.ts";
import { findAverageIssues, findSizeIssues, sizesTable } from "./sizes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NESTED = join(ROOT, "infra/stacks/workflows.yaml");
/** Functions of each kind that `events/` has a sample for. */
const SAMPLE_FUNCTIONS = [
  "EmitEventFunction",
  "ConductFunction",
  "IndexEventsFunction",
  "FireFunction",
  "GetHealthFunction",
  "SendMailFunction",
];

type AnyHandler = (event: unknown, context?: unknown) => Promise<unknown>;

let folder: string;
const sizes = new Map<string, BundleSize>();
const handlers = new Map<string, AnyHandler>();
let test: TestDeps;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-built-"));
  const builds = functionBuilds(await readFile(NESTED, "utf8"), NESTED);
  await Promise.all(
    builds
      .filter(({ logicalId }) => SAMPLE_FUNCTIONS.includes(logicalId))
      .map(async (found) => {
        const outdir = join(folder, found.logicalId);
        sizes.set(found.logicalId, await bundle(found, outdir));
        const module = (await import(pathToFileURL(join(outdir, found.file)).href)) as {
          handler: AnyHandler;
        };
        handlers.set(found.logicalId, module.handler);
      }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  test = await testDeps();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await test.close();
});

const buildOf = async (logicalId: string): Promise<FunctionBuild> =>
  functionBuilds(await readFile(NESTED, "utf8"), NESTED).find((one) => one.logicalId === logicalId)!;

const sample = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(ROOT, "events", name), "utf8")) as unknown;

/** Invokes the built bundle of a function with a sample and these dependencies. */
async function invoke(logicalId: string, event: unknown, deps?: Deps): Promise<unknown> {
  return handlers.get(logicalId)!(event, deps === undefined ? {} : { weft: deps });
}

const depsWithToken = (token: string): Deps => ({
  ...test.deps,
  auth: {
    authenticate: async (sent) => (sent === token ? { kind: "owner", id: "owner" } : undefined),
    isValid: async () => true,
  },
});

interface FakeAwsRequest {
  readonly target: string;
  readonly [field: string]: unknown;
}

/** A fake of AWS until the end of a test: the release of the stored data, and a parameter. */
async function startFakeAws({ release = releaseOf(PRODUCT_VERSION) } = {}) {
  const asked: FakeAwsRequest[] = [];
  const mark = { pk: { S: "service" }, sk: { S: "release" }, release: { S: release } };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { "x-amz-target": target, authorization } = request.headers;
      asked.push({ target: String(target), authorization, ...JSON.parse(Buffer.concat(chunks).toString()) });
      response.setHeader("content-type", "application/x-amz-json-1.1");
      const isStored = target === "DynamoDB_20120810.GetItem";
      response.end(JSON.stringify(isStored ? { Item: mark } : { Parameter: { Value: "another" } }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    WEFT_STACK: "weft",
    WEFT_QUEUES: "bash bash-dead-letters conduct.fifo",
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "sample",
    AWS_SECRET_ACCESS_KEY: "sample",
    AWS_ENDPOINT_URL_SSM: url,
    AWS_ENDPOINT_URL_DYNAMODB: url,
  };
  return { asked, environment };
}

describe("a built bundle", () => {
  it("returns the response of the REST API, with a valid or an invalid token", async () => {
    const request = await sample("rest-proxy.json");

    const accepted = (await invoke(
      "EmitEventFunction",
      request,
      depsWithToken("a-token-for-samples"),
    )) as ProxyResult;
    expect(accepted.statusCode).toBe(200);
    expect(JSON.parse(accepted.body)).toMatchObject({ event_id: expect.stringMatching(/^evt_/) });
    const { records } = await readLog(test.deps);
    expect(records).toMatchObject([
      { topic: "custom.sample", name: "a-sample", data: '{"greeting":"hello"}' },
    ]);

    const refused = (await invoke("EmitEventFunction", request, depsWithToken("another"))) as ProxyResult;
    expect(refused).toMatchObject({
      statusCode: 401,
      headers: { "x-request-id": "4f5c2f6e-3f0a-4d8b-9f58-0f6f6f1d2b11" },
      body: '{"error":true,"message":"Invalid token"}',
    });
  });

  it("reports the failed messages of a batch, and stores the reason under the queue's name", async () => {
    const answer = await invoke("ConductFunction", await sample("sqs-batch.json"), {
      ...test.deps,
      queueNamePrefix: "weft-",
    });

    expect(answer).toEqual({
      batchItemFailures: [{ itemIdentifier: "2e1424d4-f796-459a-8184-9c92662be6da" }],
    });
    expect(test.logs.map(({ message }) => message)).toContain("conduct: the run does not exist");
    const { items } = await listDeadLetters(test.deps, { offset: 0, limit: 10 });
    expect(await collectPages(items)).toMatchObject([
      { id: "2e1424d4-f796-459a-8184-9c92662be6da", queue: "conduct", body: '{"run_id":' },
    ]);
  });

  it("accepts an event of the bus", async () => {
    const event = (await sample("eventbridge.json")) as { detail: { event_id: string } };
    const fixed = { ...test.deps.ids, ordered: () => event.detail.event_id };
    const emitted = { ...depsWithToken("a-token-for-samples"), ids: fixed };
    await invoke("EmitEventFunction", await sample("rest-proxy.json"), emitted);
    expect(await test.deps.eventIndex.last()).toBe(0);

    expect(await invoke("IndexEventsFunction", event, test.deps)).toBeUndefined();

    expect(await test.deps.eventIndex.last()).toBe(1);
  });

  it("accepts a Scheduled Event", async () => {
    await storeWorkflow(
      test.deps,
      'name: tick\ntriggers: [{name: clock, type: cron, schedule: "*/10 * * * *"}]\nsteps: [{name: a, type: bash, command: echo}]\n',
    );
    test.clock.advance(10 * 60_000);

    expect(await invoke("FireFunction", await sample("scheduled.json"), test.deps)).toBeUndefined();

    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records).toMatchObject([{ workflow_name: "tick", name: "clock-triggered" }]);
  });

  it("streams a response through the runtime of Lambda", async () => {
    const heads = stubLambdaRuntime();
    const found = await buildOf("ExportAssetsFunction");
    const outdir = join(folder, found.logicalId);
    await bundle(found, outdir);
    const { handler } = (await import(pathToFileURL(join(outdir, found.file)).href)) as {
      handler: StreamHandler;
    };
    const out = new PassThrough();
    const request = { ...((await sample("rest-proxy.json")) as ProxyEvent), httpMethod: "GET", body: null };

    await handler(request, out, { weft: depsWithToken("a-token-for-samples") });

    expect(heads).toMatchObject([
      { statusCode: 200, headers: { "content-type": "text/csv; charset=utf-8" } },
    ]);
    expect(await text(out)).toMatch(/^id,/);
  });

  it("connects to AWS with the environment of the template", async () => {
    const aws = await startFakeAws();
    vi.stubEnv("WEFT_STACK", "weft");
    await expect(invoke("GetHealthFunction", { headers: {} })).rejects.toThrow("WEFT_QUEUES is not set");

    for (const [name, value] of Object.entries(aws.environment)) vi.stubEnv(name, value);
    const answer = (await invoke("GetHealthFunction", { headers: {} })) as ProxyResult;
    expect(answer).toMatchObject({ statusCode: 200, body: '{"status":"ok"}' });
    expect(aws.asked).toMatchObject([{ target: "DynamoDB_20120810.GetItem", TableName: "weft-service" }]);
  });

  it("rejects stored data of another release", async () => {
    const { environment } = await startFakeAws({ release: "0.0.1" });
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    await expect(invoke("IndexEventsFunction", await sample("sqs-batch.json"))).rejects.toThrow(
      "release 0.0.1",
    );
  });

  it("reads the token from the parameter store, with the SDK in its bundle", async () => {
    const { asked, environment } = await startFakeAws();
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.stubEnv("WEFT_ACCESS_TOKEN_PARAMETER", "/weft/access-token");

    const refused = (await invoke("EmitEventFunction", await sample("rest-proxy.json"))) as ProxyResult;

    expect(refused).toMatchObject({ statusCode: 401, body: '{"error":true,"message":"Invalid token"}' });
    expect(asked.filter(({ target }) => target === "AmazonSSM.GetParameter")).toEqual([
      {
        target: "AmazonSSM.GetParameter",
        authorization: expect.stringMatching(/Credential=sample\/\d{8}\/eu-west-1\/ssm\/aws4_request/),
        Name: "/weft/access-token",
        WithDecryption: true,
      },
    ]);
  });

  it("contains what a function needs, without the local platform and Web Assembly", () => {
    for (const [logicalId, size] of sizes) {
      expect(findSizeIssues(size), logicalId).toEqual([]);
      expect(size.packages.get("zod"), logicalId).toBeGreaterThan(0);
      // Only what the SDK imports if Lambda's own credentials are missing, and what few functions use.
      const optionalImport = /credential-provider|^nodemailer\//;
      expect(
        size.imports.filter((path) => !optionalImport.test(path)),
        logicalId,
      ).toEqual([]);
    }
    const mailing = [...sizes].filter(([, { contents }]) => contents.has("nodemailer"));
    expect(mailing.map(([logicalId]) => logicalId)).toEqual(["SendMailFunction"]);
    expect(sizes.get("SendMailFunction")?.imports.filter((path) => path.startsWith("nodemailer"))).toEqual(
      [],
    );
  });
});

describe("the bundle of a function", () => {
  it("is the same in any output folder, except the names of its chunks", async () => {
    const found = await buildOf("GetHealthFunction");
    const deeper = join(folder, "some/folder/below/another");
    await bundle(found, deeper);
    const named = async (outdir: string): Promise<string> =>
      (await readFile(join(outdir, found.file), "utf8")).replace(/-[0-9A-Z]{8}(?=\.mjs)/g, "");
    expect(await named(deeper)).toBe(await named(join(folder, found.logicalId)));
  });
});

describe("the samples", () => {
  it("are few, and contain each configuration, and all functions of the same code", async () => {
    const builds = functionBuilds(await readFile(NESTED, "utf8"), NESTED);
    const samples = samplesOf(builds);
    expect(samples.length).toBeLessThan(builds.length / 2);
    expect(new Set(samples.map(configurationOf))).toEqual(new Set(builds.map(configurationOf)));
    const codeOf = ({ options }: FunctionBuild): string => JSON.stringify(options);
    const sampled = new Set(samples.map(codeOf));
    expect(samples).toEqual(builds.filter((found) => sampled.has(codeOf(found))));
  });
});

describe("the sizes", () => {
  const size = (further: Partial<BundleSize>): BundleSize => ({
    logicalId: "AFunction",
    kind: "workflows",
    total: 400 * 1024,
    withTables: 600 * 1024,
    own: 50 * 1024,
    packages: new Map([["zod", 90 * 1024]]),
    later: 200 * 1024,
    contents: new Set(["zod"]),
    imports: [],
    nodeModules: [],
    files: new Map(),
    beside: new Map(),
    ...further,
  });

  it.each([
    [{}, undefined],
    [{ total: 501 * 1024 }, "AFunction: loads 501.0 kB when it starts, at most 500.0 kB"],
    [{ total: 600 * 1024, contents: new Set(["yaml"]) }, undefined],
    [
      { total: 721 * 1024, contents: new Set(["ai"]) },
      "AFunction: loads 721.0 kB when it starts, at most 720.0 kB",
    ],
    [{ beside: new Map([["jq.wasm", 900 * 1024]]) }, undefined],
    [
      { beside: new Map([["worker.mjs", 321 * 1024]]) },
      "AFunction: code of scripts 321.0 kB, at most 320.0 kB",
    ],
    [
      { imports: ["#lib/a.ts", "@aws-sdk/b", "../lib/c.ts"] },
      "AFunction: imports the file ../lib/c.ts, which is not in the bundle",
    ],
    [{ contents: new Set(["chokidar"]) }, "AFunction: contains chokidar, which no function needs"],
    [{ nodeModules: ["node:sqlite"] }, "AFunction: imports node:sqlite, which no function needs"],
  ])("%j", (further, issue) => {
    expect(findSizeIssues(size(further))).toEqual(issue === undefined ? [] : [issue]);
  });

  it("have a limit for their average, and a row for each kind", () => {
    const small = size({ files: new Map([["a.mjs", 900 * 1024]]) });
    const large = size({ kind: "converter", total: 700 * 1024, files: new Map([["jq.wasm", 1024]]) });
    expect(findAverageIssues([small, small])).toEqual([]);
    expect(findAverageIssues([small, large])).toEqual(["the average bundle has 550.0 kB, at most 400.0 kB"]);
    expect(sizesTable([small, large]).split("\n").slice(2)).toEqual([
      "| workflows | 1 | 400.0 kB | 400.0 kB | 600.0 kB | 900.0 kB | 900.0 kB |",
      "| converter | 1 | 700.0 kB | 700.0 kB | 600.0 kB | 0.0 kB | 0.0 kB |",
      "| all | 2 | 550.0 kB | 700.0 kB | 600.0 kB | 450.0 kB | 900.0 kB |",
    ]);
  });
});
