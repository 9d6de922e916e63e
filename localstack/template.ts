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
  /** A pause after a batch that was not full, milliseconds. */
  readonly restMs: number;
  /** Undefined where the queue has no dead-letter queue: its messages are delivered until they succeed or expire. */
  readonly maxReceiveCount: number | undefined;
  readonly visibilitySeconds: number;
  readonly fifo: boolean;
}

export interface TemplateFunction {
  readonly logicalId: string;
  /** The file with the handler, from the main template's folder. */
  readonly entry: string;
  readonly handlerExport: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Undefined where the function takes no body of its own. */
  readonly bodyLimitBytes: number | undefined;
  /** Takes a body in a file, so that here it may be larger than what Lambda carries. */
  readonly largeBody?: boolean;
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

/** A template as it was read, and the files that it lies in: its own first, then those of its nested stacks. */
export interface ReadTemplate {
  readonly template: Template;
  /** Absolute paths, or as `path` was given. */
  readonly files: readonly string[];
}

/**
 * Reads a deployable template back, as the platform that runs it needs it, with its nested stacks. Names are
 * ours: without the stack's prefix and `.fifo`. What is not in the files is not there: a reference to a removed
 * queue counts as removed with it. Throws TemplateError naming the resource that cannot be read.
 */
export function readTemplate(path: string): Template {
  return readTemplateFiles(path).template;
}

/** As `readTemplate`, and tells which files it has read. */
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

/** A template of the tree of nested ones. */
interface Stack {
  readonly root: Node;
  /** Its folder, from that of the main template, with forward slashes. */
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
        return location.fail("names a file that is not there");
      throw error;
    }
  });
  return { root, folder, nested: new Map(nested), queues: readQueues(ofType(root, "AWS::SQS::Queue")) };
}

function ofType(root: Node, type: string): (readonly [string, Node])[] {
  return root
    .at("Resources")
    .entries()
    .filter(([, resource]) => resource.at("Type").text() === type);
}

/** What each template holds by itself. */
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

function readQueues(found: readonly (readonly [string, Node])[]): Queues {
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
      const target = redrive.isThere
        ? names.get(redrive.at("deadLetterTargetArn").referenced().id)
        : undefined;
      return [
        id,
        {
          name: queueName(properties),
          fifo: properties.at("FifoQueue").flag(),
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

function toRule(properties: Node, stack: Stack): RuleResource[] {
  if (!properties.at("EventPattern").isThere) return [];
  const pattern = properties.at("EventPattern").record() as EventPattern;
  return [{ name: properties.at("Name").stackName(), pattern, queues: targetsOf(properties, stack) }];
}

function toSchedule(properties: Node, stack: Stack): ScheduleResource[] {
  const expression = properties.at("ScheduleExpression");
  if (!expression.isThere) return [];
  const name = properties.at("Name").stackName();
  return [{ name, expression: expression.text(), queues: targetsOf(properties, stack) }];
}

function targetsOf(properties: Node, stack: Stack): string[] {
  return properties
    .at("Targets")
    .items()
    .flatMap((target) => queueAt(target.at("Arn"), stack)?.name ?? []);
}

/** The queue whose ARN stands at a place: one of the template itself, or one that a nested stack gives out. */
function queueAt(place: Node, { queues, nested }: Stack): QueueResource | undefined {
  const { id, attribute } = place.referenced();
  if (attribute === "Arn") return queues.get(id);
  const output = /^Outputs\.(.+)$/.exec(attribute)?.[1];
  if (output === undefined) return place.fail("must be an ARN or an output");
  const child = nested.get(id);
  const value = child?.root.at("Outputs").at(output).at("Value");
  return child === undefined || value?.isThere !== true ? undefined : queueAt(value, child);
}

function toFunction(logicalId: string, resource: Node, globals: Node, stack: Stack): TemplateFunction {
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
    bodyLimitBytes: limit.isThere ? limit.number() : undefined,
    worker: weft.at("Worker").flag(),
    ...(weft.at("LargeBody").flag() ? { largeBody: true } : {}),
    routes: events
      .filter((event) => event.at("Type").text() === "Api")
      .map((event) => toRoute(event.at("Properties"))),
    sources: events
      .filter((event) => event.at("Type").text() === "SQS")
      .flatMap((event) => toSource(event.at("Properties"), weft, stack)),
  };
}

function toRoute(properties: Node): TemplateRoute {
  return {
    method: properties.at("Method").text().toUpperCase(),
    path: properties.at("Path").text(),
    stream: isResponseStream(properties.at("ResponseTransferMode")),
  };
}

/** SAM ignores every other value, so the function would stream into an integration that does not. */
function isResponseStream(mode: Node): boolean {
  if (!mode.isThere || mode.text() === "BUFFERED") return false;
  return mode.text() === "RESPONSE_STREAM" || mode.fail("must be RESPONSE_STREAM or BUFFERED");
}

/** A source that is switched off counts for workers alone: they poll instead of Lambda. */
function toSource(properties: Node, weft: Node, stack: Stack): TemplateSource[] {
  const queue = queueAt(properties.at("Queue"), stack);
  if (queue === undefined || (!properties.at("Enabled").flag(true) && !weft.at("Worker").flag())) return [];
  const scaled = properties.at("ScalingConfig").at("MaximumConcurrency").number(CONCURRENCY);
  return [
    {
      queue: queue.name,
      batchSize: properties.at("BatchSize").number(BATCH_SIZE),
      concurrency: weft.at("Concurrency").number(scaled),
      restMs: weft.at("RestMs").number(0),
      maxReceiveCount: queue.deadLetter?.maxReceiveCount,
      visibilitySeconds: queue.visibilitySeconds,
      fifo: queue.fifo,
    },
  ];
}
