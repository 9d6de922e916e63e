import { describe, expect, it } from "vitest";
import { consumerSource, FIXTURE_FILES, makeTree, routeSource } from "./fixture-tree.ts";
import { ScanError, scanFunctions } from "./scan.ts";

async function scanIssues(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using tree = await makeTree({ "lib/tables.ts": "export const tables = {};", ...files });
  try {
    await scanFunctions(tree.root);
    return [];
  } catch (error) {
    if (error instanceof ScanError) return error.issues;
    throw error;
  }
}

const LIST = routeSource('operationId: "listRuns", path: "/runs"');

describe("scan", () => {
  it("returns routes, consumers and tables sorted by file and name, without tests", async () => {
    await using tree = await makeTree();

    const found = await scanFunctions(tree.root);

    expect(found.routes.map(({ route }) => route.operationId)).toEqual([
      "listEventLogs",
      "emitEvent",
      "unknownPath",
      "readHealth",
      "cancelRun",
      "createWorkflow",
    ]);
    expect(found.routes[0]?.entry).toBe("functions/workflows/event-logs/list.ts");
    expect(found.consumers.map(({ consumer }) => consumer.name)).toEqual([
      "conduct",
      "dead-letters",
      "index-events",
      "bash",
      "fire",
    ]);
    expect(found.tables.map(({ name }) => name)).toEqual(["event-log", "runs"]);
  });

  it("reports files without exports, files that do not load, and files outside the layout", async () => {
    const issues = await scanIssues({
      "functions/workflows/runs/list.ts": "export const route = {};",
      "functions/executors/bash.ts": "export const handler = () => 1;",
      "functions/executors/http.ts": 'throw new Error("missing module");',
      "functions/workflows/list.ts": LIST,
      "functions/others/x.ts": LIST,
    });

    expect(issues).toEqual([
      "functions/executors/bash.ts: must export `consumer` and `handler`",
      "functions/executors/http.ts: cannot be loaded: missing module",
      expect.stringContaining("functions/others/x.ts: must be functions/"),
      expect.stringContaining("functions/workflows/list.ts: must be functions/"),
      "functions/workflows/runs/list.ts: must export `route` and `handler`",
    ]);
  });

  it("reports duplicate operationIds, and duplicate methods and paths", async () => {
    const issues = await scanIssues({
      "functions/workflows/runs/list.ts": LIST,
      "functions/workflows/runs/show.ts": routeSource('operationId: "listRuns", path: "/runs/{id}"'),
      "functions/workflows/runs/all.ts": routeSource('operationId: "allRuns", path: "/runs"'),
    });

    expect(issues).toEqual([
      "functions/workflows/runs/list.ts: route GET /automation/runs is also used by functions/workflows/runs/all.ts",
      "functions/workflows/runs/show.ts: operationId listRuns is also used by functions/workflows/runs/list.ts",
    ]);
  });

  it("reports two parameter names for one segment, which API Gateway rejects", async () => {
    const issues = await scanIssues({
      "functions/workflows/runs/read.ts": routeSource('operationId: "readRun", path: "/runs/{id}"'),
      "functions/workflows/runs/steps.ts": routeSource('operationId: "listSteps", path: "/runs/{run}/steps"'),
      "functions/workflows/runs/rest.ts": routeSource(
        'operationId: "rest", method: "ANY", path: "/runs/{proxy+}"',
      ),
      "functions/workflows/all/rest.ts": routeSource('operationId: "all", method: "ANY", path: "/{proxy+}"'),
    });

    expect(issues).toEqual([
      expect.stringContaining("runs/rest.ts: path /automation/runs/{proxy+} has {proxy+} where"),
      expect.stringContaining("runs/steps.ts: path /automation/runs/{run}/steps has {run} where"),
    ]);
  });

  it.each([
    ["/runs/", "a trailing slash"],
    ["runs", "no slash at the start"],
    ["/runs//x", "an empty segment"],
    ["/{proxy+}/x", "a catch-all in the middle"],
    ["/runs/:id", "another router's parameter"],
  ])("rejects the path %s: %s", async (path) => {
    const issues = await scanIssues({
      "functions/workflows/runs/list.ts": routeSource(
        `operationId: "listRuns", path: ${JSON.stringify(path)}`,
      ),
    });

    expect(issues).toEqual([expect.stringContaining("must start with /")]);
  });

  it("reports a route in the folder of another service", async () => {
    const issues = await scanIssues({
      "functions/documents/runs/list.ts": LIST,
      "functions/workflows/documents/list.ts": routeSource(
        'operationId: "listDocuments", service: documentsService, path: "/documents"',
      ),
    });

    expect(issues).toEqual([
      "functions/documents/runs/list.ts: service workflows must not be in functions/documents",
      "functions/workflows/documents/list.ts: service documents must not be in functions/workflows",
    ]);
  });

  it("reports a consumer whose name is a duplicate, is not the file's name, or is a route's function name", async () => {
    const issues = await scanIssues({
      "functions/workflows/events/emit.ts": routeSource('operationId: "emitEvent", path: "/emit"'),
      "functions/executors/bash.ts": consumerSource('name: "bash"'),
      "functions/schedules/bash.ts": consumerSource('name: "bash"'),
      "functions/executors/shell.ts": consumerSource('name: "sh"'),
      "functions/executors/emit-event.ts": consumerSource('name: "emit-event"'),
    });

    expect(issues).toEqual([
      "functions/executors/shell.ts: name sh must equal the file's name",
      "functions/schedules/bash.ts: consumer bash is also used by functions/executors/bash.ts",
      "functions/executors/emit-event.ts: consumer emit-event has the function name of functions/workflows/events/emit.ts",
    ]);
  });

  it("reports values that AWS rejects", async () => {
    const issues = await scanIssues({
      "functions/workflows/runs/list.ts": routeSource(
        'operationId: "listRuns", path: "/runs", timeoutSeconds: 30',
      ),
      "functions/executors/bash.ts": consumerSource(
        'name: "bash", timeoutSeconds: 901, memoryMb: 64, schedule: "every minute", queue: { batchSize: 11, maxReceiveCount: 0, concurrency: 1.5 }',
      ),
      "lib/tables.ts":
        'export const tables = { a: { name: "Runs", indexes: {} }, b: { name: "Runs", indexes: {} } };',
    });

    expect(issues.map((issue) => issue.replace(/^[^:]+: /, ""))).toEqual([
      "timeoutSeconds must be at most 29, the timeout of API Gateway",
      "schedule every minute must be rate(…) or cron(…)",
      "queue.batchSize must be 1 to 10",
      "queue.maxReceiveCount must be 1 to 1000",
      "queue.concurrency must be 1 to 1000",
      "timeoutSeconds must be 1 to 900",
      "memoryMb must be 128 to 10240",
      "name Runs must be kebab-case",
      "name Runs must be kebab-case",
      "table Runs is also used by lib/tables.ts",
    ]);
  });

  it("throws if lib/tables.ts does not exist", async () => {
    await using tree = await makeTree({
      "functions/executors/bash.ts": FIXTURE_FILES["functions/executors/bash.ts"]!,
    });

    await expect(scanFunctions(tree.root)).rejects.toThrow("lib/tables.ts: cannot be loaded");
  });
});
