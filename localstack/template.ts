import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { EventPattern } from "../lib/platform/bus.ts";
import type {
  QueueResource,
  Resources,
  RuleResource,
  ScheduleResource,
  TableResource,
} from "../lib/platform/resources.ts";
import type { IndexSpec } from "../lib/platform/tables.ts";
import { parseTemplate, TemplateError, type TemplateNode } from "./template-node.ts";

export { TemplateError };

/** A path of a function, in API Gateway's syntax. */
export interface TemplateRoute {
  /** Upper case, or `ANY`. */
  readonly method: string;
  readonly path: string;
  /** The response is streamed: Lambda's limit of buffered responses does not apply. */
  readonly stream: boolean;
}

/** An event source of a function: a queue. */
export interface TemplateSource {
  readonly queue: string;
  readonly batchSize: number;
  /** Invocations at the same time, on one machine. */
  readonly concurrency: number;
  /** What applies in Lambda. */
  readonly lambda?: LambdaSource;
  /** A pause after a batch that was not full, milliseconds. */
  readonly restMs: number;
  /** Undefined without a dead-letter queue: messages are then delivered until they succeed or expire. */
  readonly maxReceiveCount: number | undefined;
  readonly visibilitySeconds: number;
  readonly fifo: boolean;
}

/** An event source as Lambda polls it. */
export interface LambdaSource {
  readonly batchSize: number;
  readonly concurrency: number;
  /** Time for which messages are collected if the batch is not full, seconds. */
  readonly windowSeconds: number;
}

export interface TemplateFunction {
  readonly logicalId: string;
  /** The handler's file, relative to the main template's folder. */
  readonly entry: string;
  readonly handlerExport: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Undefined if its routes have no body. */
  readonly bodyLimitBytes: number | undefined;
  /** Reads its body from a file, so that the body may exceed Lambda's payload limit. */
  readonly largeBody?: boolean;
  /** Reads a large body while it is received. */
  readonly streamedBody?: boolean;
  /** Its queues are polled by workers, and it has no timeout. */
  readonly worker: boolean;
  readonly routes: readonly TemplateRoute[];
  readonly sources: readonly TemplateSource[];
}

export interface Template {
  readonly resources: Resources;
  readonly functions: readonly TemplateFunction[];
}

/** Defaults of Lambda, API Gateway and SQS. */
const FUNCTION_TIMEOUT_SECONDS = 3;
const FUNCTION_MEMORY_MB = 128;
const VISIBILITY_SECONDS = 30;
const RETENTION_SECONDS = 345_600;
const BATCH_SIZE = 10;
const CONCURRENCY = 1000;

/** A template and its files: its own first, then those of its nested stacks. */
export interface ReadTemplate {
  readonly template: Template;
  /** Absolute paths, or as `path` was given. */
  readonly files: readonly string[];
}

/**
 * Reads a deployable template with its nested stacks. Names are without the stack's prefix and `.fifo`. References to
 * resources that are not in the files are skipped. Throws TemplateError naming the invalid resource.
 */
export function readTemplate(path: string): Template {
  return readTemplateFiles(path).template;
}

/** Like `readTemplate`; also returns the files that it has read. */
export function readTemplateFiles(path: string): ReadTemplate {
  const files: string[] = [];
  const stack = openStack(path, ".", files);
  const parts = partsOf(stack);
  return {
    files,
    template: {
      resources: {
        tables: parts.flatMap(({ resources }) => resources.tables),
        queues: parts.flatMap(({ resources }) => resources.queues),
        rules: parts.flatMap(({ resources }) => resources.rules),
        schedules: parts.flatMap(({ resources }) => resources.schedules),
      },
      functions: parts.flatMap(({ functions }) => functions),
    },
  };
}

/** The main template or a nested one. */
interface Stack {
  readonly root: TemplateNode;
  /** Its folder relative to the main template's, with forward slashes. */
  readonly folder: string;
  /** By logical id. */
  readonly nested: ReadonlyMap<string, Stack>;
  readonly queues: Queues;
}

function openStack(path: string, folder: string, files: string[]): Stack {
  const root = parseTemplate(readFileSync(path, "utf8"), path);
  files.push(path);
  const nested = ofType(root, "AWS::Serverless::Application").map(([id, resource]) => {
    const location = resource.at("Properties").at("Location");
    try {
      const file = location.text();
      return [
        id,
        openStack(join(dirname(path), file), posix.join(folder, posix.dirname(file)), files),
      ] as const;
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT")
        return location.fail("names a file that does not exist");
      throw error;
    }
  });
  return { root, folder, nested: new Map(nested), queues: readQueues(ofType(root, "AWS::SQS::Queue")) };
}

function ofType(root: TemplateNode, type: string): (readonly [string, TemplateNode])[] {
  return root
    .at("Resources")
    .entries()
    .filter(([, resource]) => resource.at("Type").text() === type);
}

/** The resources of each template by itself. */
function partsOf(stack: Stack): Template[] {
  const { root, queues } = stack;
  const rules = ofType(root, "AWS::Events::Rule").map(([, resource]) => resource.at("Properties"));
  const globals = root.at("Globals").at("Function");
  const own: Template = {
    resources: {
      tables: ofType(root, "AWS::DynamoDB::Table").map(([, resource]) => toTable(resource.at("Properties"))),
      queues: [...queues.values()],
      rules: rules.flatMap((rule) => toRule(rule, stack)),
      schedules: rules.flatMap((rule) => toSchedule(rule, stack)),
    },
    functions: ofType(root, "AWS::Serverless::Function").map(([id, node]) =>
      toFunction(id, node, globals, stack),
    ),
  };
  return [own, ...[...stack.nested.values()].flatMap(partsOf)];
}

/** By logical id. */
type Queues = ReadonlyMap<string, QueueResource>;

function readQueues(found: readonly (readonly [string, TemplateNode])[]): Queues {
  const names = new Map(found.map(([id, resource]) => [id, queueName(resource.at("Properties"))]));
  return new Map(
    found.map(([id, resource]) => {
      const properties = resource.at("Properties");
      const weft = resource.at("Metadata").at("Weft");
      const coalesces = weft
        .at("Coalesces")
        .items()
        .map((type) => type.text());
      const redrive = properties.at("RedrivePolicy");
      const target = redrive.exists
        ? names.get(redrive.at("deadLetterTargetArn").referenced().id)
        : undefined;
      return [
        id,
        {
          name: queueName(properties),
          fifo: properties.at("FifoQueue").flag(),
          ...(properties.at("FifoThroughputLimit").text("") === "perMessageGroupId"
            ? { highThroughput: true as const }
            : {}),
          visibilitySeconds: properties.at("VisibilityTimeout").number(VISIBILITY_SECONDS),
          retentionSeconds: properties.at("MessageRetentionPeriod").number(RETENTION_SECONDS),
          ...(weft.at("Eager").flag() ? { eager: true as const } : {}),
          ...(coalesces.length > 0 ? { coalesces } : {}),
          ...(target === undefined
            ? {}
            : { deadLetter: { queue: target, maxReceiveCount: redrive.at("maxReceiveCount").number() } }),
        },
      ];
    }),
  );
}

function queueName(properties: TemplateNode): string {
  return properties
    .at("QueueName")
    .stackName()
    .replace(/\.fifo$/, "");
}

function toTable(properties: TemplateNode): TableResource {
  const name = properties.at("TableName").stackName();
  const keys = toIndex(properties.at("KeySchema"));
  if (keys.pk !== "pk" || keys.sk !== "sk") properties.at("KeySchema").fail("must be pk and sk");
  const indexes: Record<string, IndexSpec> = {};
  for (const index of properties.at("GlobalSecondaryIndexes").items()) {
    const keysOnly = index.at("Projection").at("ProjectionType").text("ALL") === "KEYS_ONLY";
    indexes[index.at("IndexName").text()] = {
      ...toIndex(index.at("KeySchema")),
      ...(keysOnly ? { keysOnly: true as const } : {}),
    };
  }
  return { name, indexes };
}

function toIndex(schema: TemplateNode): IndexSpec {
  const attribute = (type: "HASH" | "RANGE"): string =>
    schema
      .items()
      .find((key) => key.at("KeyType").text() === type)
      ?.at("AttributeName")
      .text() ?? schema.fail(`has no ${type} key`);
  return { pk: attribute("HASH"), sk: attribute("RANGE") };
}

function toRule(properties: TemplateNode, stack: Stack): RuleResource[] {
  if (!properties.at("EventPattern").exists) return [];
  const pattern = properties.at("EventPattern").record() as EventPattern;
  return [{ name: properties.at("Name").stackName(), pattern, queues: targetsOf(properties, stack) }];
}

function toSchedule(properties: TemplateNode, stack: Stack): ScheduleResource[] {
  const expression = properties.at("ScheduleExpression");
  if (!expression.exists) return [];
  const name = properties.at("Name").stackName();
  return [{ name, expression: expression.text(), queues: targetsOf(properties, stack) }];
}

function targetsOf(properties: TemplateNode, stack: Stack): string[] {
  return properties
    .at("Targets")
    .items()
    .flatMap((target) => queueAt(target.at("Arn"), stack)?.name ?? []);
}

/** The queue that an ARN refers to: one of the template itself, or an output of a nested stack. */
function queueAt(place: TemplateNode, { queues, nested }: Stack): QueueResource | undefined {
  const { id, attribute } = place.referenced();
  if (attribute === "Arn") return queues.get(id);
  const output = /^Outputs\.(.+)$/.exec(attribute)?.[1];
  if (output === undefined) return place.fail("must be an ARN or an output");
  const child = nested.get(id);
  const value = child?.root.at("Outputs").at(output).at("Value");
  return child === undefined || value?.exists !== true ? undefined : queueAt(value, child);
}

function toFunction(
  logicalId: string,
  resource: TemplateNode,
  globals: TemplateNode,
  stack: Stack,
): TemplateFunction {
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
    entry: posix.isAbsolute(entry.text())
      ? entry.text()
      : posix.join(stack.folder, properties.at("CodeUri").text("."), entry.text()),
    handlerExport: properties.at("Handler").text().split(".").at(-1) ?? "",
    timeoutSeconds: properties.at("Timeout").number(globals.at("Timeout").number(FUNCTION_TIMEOUT_SECONDS)),
    memoryMb: properties.at("MemorySize").number(globals.at("MemorySize").number(FUNCTION_MEMORY_MB)),
    bodyLimitBytes: limit.exists ? limit.number() : undefined,
    worker: weft.at("Worker").flag(),
    ...(weft.at("LargeBody").flag() ? { largeBody: true } : {}),
    ...(weft.at("StreamedBody").flag() ? { streamedBody: true } : {}),
    routes: events
      .filter((event) => event.at("Type").text() === "Api")
      .map((event) => toRoute(event.at("Properties"))),
    sources: events
      .filter((event) => event.at("Type").text() === "SQS")
      .flatMap((event) => toSource(event.at("Properties"), weft, stack)),
  };
}

function toRoute(properties: TemplateNode): TemplateRoute {
  return {
    method: properties.at("Method").text().toUpperCase(),
    path: properties.at("Path").text(),
    stream: isResponseStream(properties.at("ResponseTransferMode")),
  };
}

/** Throws for other values: SAM ignores them, so a streaming function would get a buffered integration. */
function isResponseStream(mode: TemplateNode): boolean {
  if (!mode.exists || mode.text() === "BUFFERED") return false;
  return mode.text() === "RESPONSE_STREAM" || mode.fail("must be RESPONSE_STREAM or BUFFERED");
}

/** A disabled source is polled by workers only, in place of Lambda. */
function toSource(properties: TemplateNode, weft: TemplateNode, stack: Stack): TemplateSource[] {
  const queue = queueAt(properties.at("Queue"), stack);
  if (queue === undefined || (!properties.at("Enabled").flag(true) && !weft.at("Worker").flag())) return [];
  const scaled = properties.at("ScalingConfig").at("MaximumConcurrency").number(CONCURRENCY);
  const batchSize = properties.at("BatchSize").number(BATCH_SIZE);
  return [
    {
      queue: queue.name,
      batchSize: weft.at("BatchSize").number(batchSize),
      concurrency: weft.at("Concurrency").number(scaled),
      restMs: weft.at("RestMs").number(0),
      lambda: {
        batchSize,
        concurrency: scaled,
        windowSeconds: properties.at("MaximumBatchingWindowInSeconds").number(0),
      },
      maxReceiveCount: queue.deadLetter?.maxReceiveCount,
      visibilitySeconds: queue.visibilitySeconds,
      fifo: queue.fifo,
    },
  ];
}
