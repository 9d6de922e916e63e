import { LIMITS } from "../../lib/platform/limits.ts";
import { type Part, partOf } from "../provision/intrinsics.ts";

/** A template after SAM's transform, and the properties of its resources that SAM ignores. */
export interface Expanded {
  readonly template: unknown;
  readonly ignored: readonly string[];
}

/** A route that streams its response, as written in the code: `GET /automation/runs`. */
export type StreamedRoute = string;

const MS_PER_SECOND = 1000;
const STREAMING_URI = /\/response-streaming-invocations$/;
const BUFFERED_URI = /\/invocations$/;

/**
 * Compares the expanded template with the code: exactly the streamed routes have a streaming integration, no timeout
 * exceeds the limits of API Gateway and Lambda, and SAM ignores no property.
 */
export function findExpandedIssues(
  { template, ignored }: Expanded,
  streamed: readonly StreamedRoute[],
): string[] {
  const resources = Object.entries(partOf(partOf(template).Resources)).map(
    ([id, resource]) => [id, partOf(resource)] as const,
  );
  const timeouts = new Map(
    resources.flatMap(([id, { Type, Properties }]) =>
      Type === "AWS::Lambda::Function" ? [[id, Number(partOf(Properties).Timeout ?? 3)]] : [],
    ),
  );
  const integrations = resources.flatMap(([, { Type, Properties }]) =>
    Type === "AWS::ApiGateway::RestApi" ? integrationsOf(partOf(Properties)) : [],
  );
  const found = new Set(integrations.map(({ route }) => route));
  return [
    ...ignored.map((property) => `${property}: SAM ignores this property`),
    ...streamed.filter((route) => !found.has(route)).map((route) => `${route}: has no integration`),
    ...integrations.flatMap((one) => findIntegrationIssues(one, streamed.includes(one.route), timeouts)),
    ...[...timeouts]
      .filter(([, seconds]) => seconds > LIMITS.handlerSeconds.value)
      .map(([id, seconds]) => `${id}: Timeout ${seconds}, at most ${LIMITS.handlerSeconds.value}`),
    ...resources.flatMap(([id, resource]) => findApiIssues(id, resource)),
  ];
}

interface Integration {
  readonly route: string;
  readonly mode: unknown;
  readonly uri: string;
  readonly timeoutMs: unknown;
}

function integrationsOf({ Body }: Part): Integration[] {
  return Object.entries(partOf(partOf(Body).paths)).flatMap(([path, operations]) =>
    Object.entries(partOf(operations)).map(([method, operation]) => {
      const verb = method === "x-amazon-apigateway-any-method" ? "ANY" : method.toUpperCase();
      const { responseTransferMode, timeoutInMillis, uri } = partOf(
        partOf(operation)["x-amazon-apigateway-integration"],
      );
      return {
        route: `${verb} ${path}`,
        mode: responseTransferMode,
        uri: String(partOf(uri)["Fn::Sub"] ?? uri),
        timeoutMs: timeoutInMillis,
      };
    }),
  );
}

function findIntegrationIssues(
  { route, mode, uri, timeoutMs }: Integration,
  isStreamed: boolean,
  timeouts: ReadonlyMap<string, number>,
): string[] {
  const issues: string[] = [];
  if ((mode === "STREAM") !== isStreamed)
    issues.push(
      `${route}: responseTransferMode is ${mode ?? "BUFFERED"}, but the function ${isStreamed ? "streams" : "does not stream"}`,
    );
  if (!(isStreamed ? STREAMING_URI : BUFFERED_URI).test(uri)) issues.push(`${route}: the URI is ${uri}`);
  const maximum = (isStreamed ? LIMITS.handlerSeconds : LIMITS.httpHandlerSeconds).value;
  const integrationSeconds =
    Number(timeoutMs ?? LIMITS.httpHandlerSeconds.value * MS_PER_SECOND) / MS_PER_SECOND;
  const called = /\$\{(\w+)\.Arn\}/.exec(uri)?.[1] ?? "";
  const functionSeconds = timeouts.get(called);
  if (functionSeconds === undefined) return [...issues, `${route}: does not call a function of the template`];
  if (integrationSeconds > maximum)
    issues.push(`${route}: timeoutInMillis ${timeoutMs}, at most ${maximum * MS_PER_SECOND}`);
  if (functionSeconds > integrationSeconds)
    issues.push(
      `${route}: ${called} may run ${functionSeconds} s, but API Gateway waits ${integrationSeconds} s`,
    );
  return issues;
}

/** A path has one resource per segment, shared by paths with the same prefix; the root is another one. */
function findApiIssues(id: string, { Type, Properties }: Part): string[] {
  if (Type !== "AWS::ApiGateway::RestApi") return [];
  const paths = Object.keys(partOf(partOf(partOf(Properties).Body).paths));
  const parts = paths.flatMap((path) => {
    const names = path.split("/").filter((name) => name !== "");
    return names.map((_, index) => names.slice(0, index + 1).join("/"));
  });
  const count = new Set(parts).size + 1;
  const most = LIMITS.apiResources.value;
  return count > most ? [`${id}: ${count} resources of the API, at most ${most}`] : [];
}
