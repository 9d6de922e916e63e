import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { fullPath, isStreamed, ROUTE_TIMEOUT_SECONDS } from "../../lib/http/route.ts";
import { LIMITS } from "../../lib/platform/limits.ts";
import { scanFunctions } from "../scan.ts";
import { servicesOf, stackFile } from "../template/services.ts";
import { findExpandedIssues } from "./expanded.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Operation {
  readonly responseTransferMode?: string;
  readonly timeoutInMillis?: number;
  readonly invocations?: string;
}

/** SAM's output for one route, `GET /things`, of a function with this timeout. */
function expanded(operation: Operation, timeoutSeconds = 29, paths: readonly string[] = []) {
  const { invocations = "invocations", ...settings } = operation;
  const uri = {
    "Fn::Sub": `arn:aws:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/\${List.Arn}/${invocations}`,
  };
  const integration = { httpMethod: "POST", type: "aws_proxy", uri, ...settings };
  const Body = {
    paths: {
      "/things": { get: { "x-amazon-apigateway-integration": integration } },
      ...Object.fromEntries(paths.map((path) => [path, {}])),
    },
  };
  const template = {
    Resources: {
      Api: { Type: "AWS::ApiGateway::RestApi", Properties: { Body } },
      List: { Type: "AWS::Lambda::Function", Properties: { Timeout: timeoutSeconds } },
    },
  };
  return { template, ignored: [] };
}

const STREAMED: Operation = { responseTransferMode: "STREAM", invocations: "response-streaming-invocations" };
const ROUTE = "GET /things";

describe("an expanded template", () => {
  it("passes if exactly the streamed routes stream, and timeouts fit", () => {
    expect(findExpandedIssues(expanded({}), [])).toEqual([]);
    expect(findExpandedIssues(expanded(STREAMED), [ROUTE])).toEqual([]);
    expect(findExpandedIssues(expanded({ ...STREAMED, timeoutInMillis: 300_000 }, 300), [ROUTE])).toEqual([]);
  });

  it.each<[string, Operation, string[], string]>([
    [
      "a streamed route without a streaming integration",
      {},
      [ROUTE],
      "responseTransferMode is BUFFERED, but the function streams",
    ],
    [
      "a streaming integration of another route",
      STREAMED,
      [],
      "responseTransferMode is STREAM, but the function does not stream",
    ],
    [
      "a streaming integration with the URI of a buffered one",
      { responseTransferMode: "STREAM" },
      [ROUTE],
      "the URI is arn:aws:apigateway",
    ],
    [
      "a timeout above 29 s without streaming",
      { timeoutInMillis: 60_000 },
      [],
      "timeoutInMillis 60000, at most 29000",
    ],
    [
      "a timeout above 15 min",
      { ...STREAMED, timeoutInMillis: 900_001 },
      [ROUTE],
      "timeoutInMillis 900001, at most 900000",
    ],
  ])("fails for %s", (_, operation, streamed, issue) => {
    expect(findExpandedIssues(expanded(operation), streamed).join("\n")).toContain(`${ROUTE}: ${issue}`);
  });

  it("fails if a function may run longer than API Gateway waits, or than Lambda allows", () => {
    expect(findExpandedIssues(expanded({}, 60), [])).toEqual([
      `${ROUTE}: List may run 60 s, but API Gateway waits 29 s`,
    ]);
    expect(findExpandedIssues(expanded({ ...STREAMED, timeoutInMillis: 900_000 }, 901), [ROUTE])).toContain(
      "List: Timeout 901, at most 900",
    );
  });

  it("fails if SAM ignores a property or a route has no integration", () => {
    const ignored = ['List: Properties.Events.Api.Properties.ResponseTransferMode "STREAM"'];
    expect(findExpandedIssues({ ...expanded({}), ignored }, [])).toEqual([
      `${ignored[0]}: SAM ignores this property`,
    ]);
    expect(findExpandedIssues(expanded({}), ["GET /others"])).toEqual(["GET /others: has no integration"]);
  });

  it("fails if its API has more resources than API Gateway allows, counting each path segment once", () => {
    const paths = (count: number) => Array.from({ length: count }, (_, number) => `/things/${number}`);
    // The root and /things are two of them.
    expect(findExpandedIssues(expanded({}, 29, paths(LIMITS.apiResources.value - 2)), [])).toEqual([]);
    expect(findExpandedIssues(expanded({}, 29, paths(LIMITS.apiResources.value - 1)), [])).toEqual([
      "Api: 301 resources of the API, at most 300",
    ]);
  });
});

describe("the templates", () => {
  it("use SAM's value for streaming in the event of exactly the streamed routes, which have longer timeouts", async () => {
    for (const { service, routes } of servicesOf(await scanFunctions(ROOT))) {
      const { Resources } = parse(await readFile(`${ROOT}/${stackFile(service)}`, "utf8")) as {
        Resources: Record<string, { Properties?: { Events?: Record<string, ApiEvent> } }>;
      };
      const events = Object.values(Resources).flatMap(({ Properties }) =>
        Object.values(Properties?.Events ?? {}),
      );
      const apis = events.filter(({ Type }) => Type === "Api").map((event) => event.Properties);
      const named = ({ Method, Path }: ApiEvent["Properties"]) => `${Method} ${Path}`;
      const streamed = routes.filter(({ route }) => isStreamed(route));
      expect(streamed.length).toBeGreaterThan(0);
      expect(
        apis
          .filter((api) => api.ResponseTransferMode === "RESPONSE_STREAM")
          .map(named)
          .toSorted(),
      ).toEqual(streamed.map(({ route }) => `${route.method} ${fullPath(route)}`).toSorted());
      for (const api of apis.filter(({ ResponseTransferMode: mode }) => mode !== "RESPONSE_STREAM")) {
        expect([named(api), api.ResponseTransferMode]).toEqual([named(api), undefined]);
        expect(api.TimeoutInMillis ?? 0).toBeLessThanOrEqual(ROUTE_TIMEOUT_SECONDS * 1000);
      }
    }
  });
});

interface ApiEvent {
  readonly Type: string;
  readonly Properties: {
    readonly Method: string;
    readonly Path: string;
    readonly ResponseTransferMode?: string;
    readonly TimeoutInMillis?: number;
  };
}
