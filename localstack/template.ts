import { readFileSync } from "node:fs";
import type { EventPattern } from "../lib/platform/bus.ts";
import type {
  QueueResource,
  Resources,
  RuleResource,
  ScheduleResource,
  TableResource,
} from "../lib/platform/resources.ts";
import type { IndexSpec } from "../lib/platform/tables.ts";
import { type Node, parseTemplate, TemplateError } from "./template-node.ts";

export { TemplateError };

/** A path that a function answers, in API Gateway's form. */
export interface TemplateRoute {
  /** Upper case, or `ANY`. */
  readonly method: string;
  readonly path: string;
  /** The answer is streamed, so Lambda's limit of buffered answers does not hold. */
  readonly stream: boolean;
}

/** A queue that feeds a function. */
export interface TemplateSource {
  readonly queue: string;
  readonly batchSize: number;
  /** Invocations at the same time. */
  readonly concurrency: number;
  /** Undefined where the queue has no dead-letter queue: its messages are delivered until they succeed or expire. */
  readonly maxReceiveCount: number | undefined;
  readonly visibilitySeconds: number;
  readonly fifo: boolean;
}

export interface TemplateFunction {
  readonly logicalId: string;
  /** The file with the handler, from the template's folder. */
  readonly entry: string;
  readonly handlerExport: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Undefined where the function takes no body of its own. */
  readonly bodyLimitBytes: number | undefined;
  /** Polled by workers; runs as long as it takes. */
  readonly worker: boolean;
  readonly routes: readonly TemplateRoute[];
  readonly sources: readonly TemplateSource[];
}

export interface Template {
  readonly resources: Resources;
  readonly functions: readonly TemplateFunction[];
}

/** Where a template says nothing. Lambda, API Gateway and SQS have these. */
const FUNCTION_TIMEOUT_SECONDS = 3;
const FUNCTION_MEMORY_MB = 128;
const VISIBILITY_SECONDS = 30;
const RETENTION_SECONDS = 345_600;
const BATCH_SIZE = 10;
const CONCURRENCY = 1000;

/**
 * Reads a deployable template back, as the platform that runs it needs it. Names are ours: without the
 * stack's prefix and `.fifo`. What is not in the file is not there: a reference to a removed queue counts
 * as removed with it. Throws TemplateError naming the resource that cannot be read.
 */
export function readTemplate(path: string): Template {
  return toTemplate(parseTemplate(readFileSync(path, "utf8"), path));
}

function toTemplate(root: Node): Template {
  const resources = root.at("Resources").entries();
  const ofType = (type: string): (readonly [string, Node])[] =>
    resources.filter(([, resource]) => resource.at("Type").text() === type);
  const queues = readQueues(ofType("AWS::SQS::Queue"));
  const rules = ofType("AWS::Events::Rule");
  const globals = root.at("Globals").at("Function");
  return {
    resources: {
      tables: ofType("AWS::DynamoDB::Table").map(([, resource]) => toTable(resource.at("Properties"))),
      queues: [...queues.values()],
      rules: rules.flatMap(([, resource]) => toRule(resource.at("Properties"), queues)),
      schedules: rules.flatMap(([, resource]) => toSchedule(resource.at("Properties"), queues)),
    },
    functions: ofType("AWS::Serverless::Function").map(([id, node]) => toFunction(id, node, globals, queues)),
  };
}

/** By logical id. */
type Queues = ReadonlyMap<string, QueueResource>;

function readQueues(found: readonly (readonly [string, Node])[]): Queues {
  const names = new Map(found.map(([id, resource]) => [id, queueName(resource.at("Properties"))]));
  return new Map(
    found.map(([id, resource]) => {
      const properties = resource.at("Properties");
      const redrive = properties.at("RedrivePolicy");
      const target = redrive.isThere ? names.get(redrive.at("deadLetterTargetArn").referenced()) : undefined;
      return [
        id,
        {
          name: queueName(properties),
          fifo: properties.at("FifoQueue").flag(),
          visibilitySeconds: properties.at("VisibilityTimeout").number(VISIBILITY_SECONDS),
          retentionSeconds: properties.at("MessageRetentionPeriod").number(RETENTION_SECONDS),
          ...(target === undefined
            ? {}
            : { deadLetter: { queue: target, maxReceiveCount: redrive.at("maxReceiveCount").number() } }),
        },
      ];
    }),
  );
}

function queueName(properties: Node): string {
  return properties
    .at("QueueName")
    .stackName()
    .replace(/\.fifo$/, "");
}

function toTable(properties: Node): TableResource {
  const name = properties.at("TableName").stackName();
  const keys = toIndex(properties.at("KeySchema"));
  if (keys.pk !== "pk" || keys.sk !== "sk") properties.at("KeySchema").fail("must be pk and sk");
  const indexes: Record<string, IndexSpec> = {};
  for (const index of properties.at("GlobalSecondaryIndexes").items()) {
    indexes[index.at("IndexName").text()] = toIndex(index.at("KeySchema"));
  }
  return { name, indexes };
}

function toIndex(schema: Node): IndexSpec {
  const attribute = (type: "HASH" | "RANGE"): string =>
    schema
      .items()
      .find((key) => key.at("KeyType").text() === type)
      ?.at("AttributeName")
      .text() ?? schema.fail(`has no ${type} key`);
  return { pk: attribute("HASH"), sk: attribute("RANGE") };
}

function toRule(properties: Node, queues: Queues): RuleResource[] {
  if (!properties.at("EventPattern").isThere) return [];
  const pattern = properties.at("EventPattern").record() as EventPattern;
  return [{ name: properties.at("Name").stackName(), pattern, queues: targetsOf(properties, queues) }];
}

function toSchedule(properties: Node, queues: Queues): ScheduleResource[] {
  const expression = properties.at("ScheduleExpression");
  if (!expression.isThere) return [];
  const name = properties.at("Name").stackName();
  return [{ name, expression: expression.text(), queues: targetsOf(properties, queues) }];
}

function targetsOf(properties: Node, queues: Queues): string[] {
  return properties
    .at("Targets")
    .items()
    .flatMap((target) => queues.get(target.at("Arn").referenced())?.name ?? []);
}

function toFunction(logicalId: string, resource: Node, globals: Node, queues: Queues): TemplateFunction {
  const properties = resource.at("Properties");
  const weft = resource.at("Metadata").at("Weft");
  const [entry] = resource.at("Metadata").at("BuildProperties").at("EntryPoints").items();
  if (entry === undefined) return resource.fail("has no Metadata.BuildProperties.EntryPoints");
  const events = properties
    .at("Events")
    .entries()
    .map(([, event]) => event);
  const limit = weft.at("BodyLimitBytes");
  return {
    logicalId,
    entry: entry.text(),
    handlerExport: properties.at("Handler").text().split(".").at(-1) ?? "",
    timeoutSeconds: properties.at("Timeout").number(globals.at("Timeout").number(FUNCTION_TIMEOUT_SECONDS)),
    memoryMb: properties.at("MemorySize").number(globals.at("MemorySize").number(FUNCTION_MEMORY_MB)),
    bodyLimitBytes: limit.isThere ? limit.number() : undefined,
    worker: weft.at("Worker").flag(),
    routes: events
      .filter((event) => event.at("Type").text() === "Api")
      .map((event) => toRoute(event.at("Properties"))),
    sources: events
      .filter((event) => event.at("Type").text() === "SQS")
      .flatMap((event) => toSource(event.at("Properties"), weft, queues)),
  };
}

function toRoute(properties: Node): TemplateRoute {
  return {
    method: properties.at("Method").text().toUpperCase(),
    path: properties.at("Path").text(),
    stream:
      properties.at("ResponseTransferMode").isThere &&
      properties.at("ResponseTransferMode").text() === "STREAM",
  };
}

/** A source that is switched off counts for workers alone: they poll instead of Lambda. */
function toSource(properties: Node, weft: Node, queues: Queues): TemplateSource[] {
  const queue = queues.get(properties.at("Queue").referenced());
  if (queue === undefined || (!properties.at("Enabled").flag(true) && !weft.at("Worker").flag())) return [];
  const scaled = properties.at("ScalingConfig").at("MaximumConcurrency").number(CONCURRENCY);
  return [
    {
      queue: queue.name,
      batchSize: properties.at("BatchSize").number(BATCH_SIZE),
      concurrency: weft.at("Concurrency").number(scaled),
      maxReceiveCount: queue.deadLetter?.maxReceiveCount,
      visibilitySeconds: queue.visibilitySeconds,
      fifo: queue.fifo,
    },
  ];
}
