import { basename } from "node:path";
import {
  BODY_LIMIT_BYTES,
  fullPath,
  isLargeBody,
  isStreamed,
  ROUTE_MEMORY_MB,
  ROUTE_TIMEOUT_SECONDS,
  type Route,
} from "../../lib/http/route.ts";
import { CONVERSION_SECONDS, converterName } from "../../lib/platform/conversions.ts";
import { RENDERING_SECONDS, rendererName } from "../../lib/platform/renderings.ts";
import { toPascalCase } from "../names.ts";
import type { ScannedConsumer, ScannedRoute } from "../scan.ts";
import type { FunctionKind } from "./access.ts";
import { buildProperties, CODE_FOLDER, converterBuild, rendererBuild } from "./bundling.ts";
import { API_ID } from "./gateway.ts";
import { arnOf, installationName, type Resource, type ResourceMap, ref } from "./intrinsics.ts";
import { reservedConcurrency } from "./protection.ts";
import { WORKER_VISIBILITY_SECONDS } from "./queues.ts";
import { kindOf, roleId } from "./roles.ts";
import { consumerVariables } from "./step-settings.ts";

/** Limits of an event source mapping's `MaximumConcurrency`. */
const SCALING_MIN = 2;
const SCALING_MAX = 1000;

const MS_PER_SECOND = 1000;
/** Relative to the folder of the functions; not part of the scan. */
const CONVERTER_ENTRY = "../lib/platform/aws/converter-function.ts";
/** The process uses 150 MB before it converts, and CPU time is proportional to memory. */
const CONVERTER_MEMORY_MB = 1536;
const RENDERER_ENTRY = "../lib/platform/aws/renderer-function.ts";
/** Images of a document have up to 64 MB, and are decoded. */
const RENDERER_MEMORY_MB = 2048;
/** For the script evaluator: two at a time, each with a VM and jq at their limits. */
const SCRIPTS_MEMORY_MB = 1024;

/**
 * SAM's value, which it expands to `responseTransferMode: STREAM` and Lambda's URI for streaming invocations. SAM
 * ignores any other value, including `STREAM`.
 */
const RESPONSE_STREAM = "RESPONSE_STREAM";

/** Functions that keep the service running; users' steps get the remaining concurrency. */
const RESERVED_CONSUMERS: ReadonlySet<FunctionKind> = new Set(["consumers", "schedules"]);

/** Defaults of a function. */
export const FUNCTION_GLOBALS = {
  Runtime: "nodejs24.x",
  Architectures: ["arm64"],
  MemorySize: ROUTE_MEMORY_MB,
  Timeout: ROUTE_TIMEOUT_SECONDS,
} as const;

export function functionId(name: string): string {
  return `${toPascalCase(name)}Function`;
}

export function routeFunction({ entry, route }: ScannedRoute): ResourceMap {
  const events = { Api: { Type: "Api", Properties: apiEvent(route) } };
  const limit = { BodyLimitBytes: route.bodyLimitBytes ?? BODY_LIMIT_BYTES };
  const large = isLargeBody(route) ? { LargeBody: true } : {};
  const streamed = route.bodyKind === "multipart" ? { StreamedBody: true } : {};
  const weft = route.body === undefined ? {} : { ...limit, ...large, ...streamed };
  const scripts = route.scripts === true;
  const memoryMb = route.memoryMb ?? (scripts ? SCRIPTS_MEMORY_MB : undefined);
  const properties = { ...sizeProperties(route.timeoutSeconds, memoryMb), Role: arnOf(roleId("http")) };
  const build = buildProperties(entry, { scripts });
  return {
    [functionId(route.operationId)]: toFunction(entry, route.summary, build, properties, events, weft),
  };
}

/** The maximum number of events of a function: each adds a statement to its policy, which is limited to 20 KB. */
const EVENTS_PER_FUNCTION = 20;

/**
 * Additional functions of the route that answers unsupported methods, for all paths of its service: API Gateway would
 * return 403 as for an unknown path.
 */
export function unsupportedMethodFunctions(routes: readonly ScannedRoute[]): ResourceMap {
  const other = routes.find(({ route }) => route.otherMethods === true);
  if (other === undefined) return {};
  const { entry, route } = other;
  const own = routes.filter((one) => one.route.service === route.service && one !== other);
  const any = new Set(own.filter((one) => one.route.method === "ANY").map((one) => one.route.path));
  const paths = [...new Set(own.map((one) => one.route.path))].filter((path) => !any.has(path)).toSorted();
  const functions: Record<string, Resource> = {};
  for (let from = 0; from < paths.length; from += EVENTS_PER_FUNCTION) {
    const number = from / EVENTS_PER_FUNCTION + 1;
    const events = paths.slice(from, from + EVENTS_PER_FUNCTION).map((path, at) => {
      const properties = apiEvent({ ...route, path });
      return [`Api${at + 1}`, { Type: "Api", Properties: properties }] as const;
    });
    functions[functionId(`${route.operationId}${number}`)] = toFunction(
      entry,
      `Unsupported methods, part ${number}`,
      buildProperties(entry, { scripts: false }),
      { Role: arnOf(roleId("http")) },
      Object.fromEntries(events),
      {},
    );
  }
  return functions;
}

function apiEvent(route: Route): Record<string, unknown> {
  const timeout = route.timeoutSeconds ?? ROUTE_TIMEOUT_SECONDS;
  return {
    RestApiId: ref(API_ID),
    Path: fullPath(route),
    Method: route.method,
    ...(isStreamed(route) ? { ResponseTransferMode: RESPONSE_STREAM } : {}),
    ...(timeout > ROUTE_TIMEOUT_SECONDS ? { TimeoutInMillis: timeout * MS_PER_SECOND } : {}),
  };
}

/** The function of a consumer, fed by the queues with these logical ids. */
export function consumerFunction(scanned: ScannedConsumer, queueIds: readonly string[]): ResourceMap {
  const { entry, consumer } = scanned;
  const { batchSize, concurrency, restMs, lambda = {} } = consumer.queue;
  const scaled = Math.min(Math.max(lambda.concurrency ?? concurrency, SCALING_MIN), SCALING_MAX);
  const events: Record<string, unknown> = {};
  for (const queueId of queueIds) {
    events[queueId] = {
      Type: "SQS",
      Properties: {
        Queue: arnOf(queueId),
        BatchSize: lambda.batchSize ?? batchSize,
        ...(lambda.windowSeconds === undefined
          ? {}
          : { MaximumBatchingWindowInSeconds: lambda.windowSeconds }),
        // Workers poll these queues themselves; Lambda has neither the tools nor the workspace.
        ...(consumer.worker === true ? { Enabled: false } : {}),
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: scaled },
      },
    };
  }
  const weft = {
    ...(consumer.worker === true ? { Worker: true } : {}),
    ...((lambda.batchSize ?? batchSize) === batchSize ? {} : { BatchSize: batchSize }),
    ...(scaled === concurrency ? {} : { Concurrency: concurrency }),
    ...(restMs === undefined ? {} : { RestMs: restMs }),
  };
  // An event source mapping is rejected if the function's timeout exceeds its queue's visibility timeout.
  const timeout =
    consumer.worker === true
      ? Math.min(consumer.timeoutSeconds, WORKER_VISIBILITY_SECONDS)
      : consumer.timeoutSeconds;
  // A worker brings its own credentials.
  const scripts = consumer.scripts === true || (consumer.executor === true && consumer.worker !== true);
  const memoryMb = consumer.memoryMb ?? (scripts ? SCRIPTS_MEMORY_MB : undefined);
  const kind = kindOf(scanned);
  const properties = {
    ...sizeProperties(timeout, memoryMb),
    ...(consumer.storageMb === undefined ? {} : { EphemeralStorage: { Size: consumer.storageMb } }),
    ...(RESERVED_CONSUMERS.has(kind)
      ? { ReservedConcurrentExecutions: reservedConcurrency(scaled * queueIds.length) }
      : {}),
    // Not those that read secrets: they would need the secrets of documents, too.
    ...(kind === "consumers" && consumer.secrets !== true
      ? { Environment: { Variables: consumerVariables() } }
      : {}),
    Role: arnOf(roleId(kind)),
  };
  const build = buildProperties(entry, { scripts });
  return {
    [functionId(consumer.name)]: toFunction(entry, consumer.summary, build, properties, events, weft),
  };
}

/** The converter, which functions of both services invoke by name. */
export function converterFunction(options: { readonly publishAsMit: boolean }): ResourceMap {
  const properties = {
    FunctionName: installationName(converterName("").slice(1)),
    ...sizeProperties(CONVERSION_SECONDS, CONVERTER_MEMORY_MB),
    Role: arnOf(roleId("converter")),
  };
  return {
    ConverterFunction: toFunction(
      CONVERTER_ENTRY,
      "Converts document content to and from blocks, markdown and HTML",
      converterBuild(CONVERTER_ENTRY, options),
      properties,
      {},
      {},
    ),
  };
}

/** The renderer, which functions of both services invoke by name. Typst is native code. */
export function rendererFunction(): ResourceMap {
  const properties = {
    FunctionName: installationName(rendererName("").slice(1)),
    Architectures: ["x86_64"],
    ...sizeProperties(RENDERING_SECONDS, RENDERER_MEMORY_MB),
    Role: arnOf(roleId("renderer")),
  };
  return {
    RendererFunction: toFunction(
      RENDERER_ENTRY,
      "Writes documents as HTML, Markdown, DOCX, ODT and PDF",
      rendererBuild(RENDERER_ENTRY),
      properties,
      {},
      {},
    ),
  };
}

/** Only what differs from the globals. */
function sizeProperties(
  timeoutSeconds = ROUTE_TIMEOUT_SECONDS,
  memoryMb = ROUTE_MEMORY_MB,
): Record<string, number> {
  return {
    ...(timeoutSeconds === ROUTE_TIMEOUT_SECONDS ? {} : { Timeout: timeoutSeconds }),
    ...(memoryMb === ROUTE_MEMORY_MB ? {} : { MemorySize: memoryMb }),
  };
}

function toFunction(
  entry: string,
  summary: string,
  build: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, unknown>>,
  events: Readonly<Record<string, unknown>>,
  weft: Readonly<Record<string, unknown>>,
): Resource {
  return {
    Type: "AWS::Serverless::Function",
    Metadata: {
      BuildMethod: "esbuild",
      BuildProperties: build,
      ...(Object.keys(weft).length === 0 ? {} : { Weft: weft }),
    },
    Properties: {
      Description: summary,
      CodeUri: CODE_FOLDER,
      // The bundle is at the top level, under its own name: with a single entry point by esbuild's default, with several
      // by the build properties.
      Handler: `${basename(entry, ".ts")}.handler`,
      ...properties,
      ...(Object.keys(events).length === 0 ? {} : { Events: events }),
    },
  };
}
