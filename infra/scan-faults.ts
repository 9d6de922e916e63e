import { basename } from "node:path";
import { documentsService } from "../lib/documents/service.ts";
import { fullPath, isStreamed, ROUTE_TIMEOUT_SECONDS } from "../lib/http/route.ts";
import type { Service } from "../lib/http/service.ts";
import type { TableSpec } from "../lib/platform/tables.ts";
import { rootService, workflowsService } from "../lib/workflows/service.ts";
import { isCamelCase, isKebabCase, toPascalCase } from "./names.ts";
import type { ScannedConsumer, ScannedRoute } from "./scan.ts";

/** Lambda's limits. */
const FUNCTION_TIMEOUT_MAX_SECONDS = 900;
const FUNCTION_MEMORY_MIN_MB = 128;
const FUNCTION_MEMORY_MAX_MB = 10_240;
/** Messages in a batch without a batching window. */
const BATCH_SIZE_MAX = 10;
/** Limit of an SQS redrive policy. */
const MAX_RECEIVE_COUNT_MAX = 1000;
/** Limit of an event source mapping. */
const CONCURRENCY_MAX = 1000;
/** Limit of indexes per DynamoDB table. */
const TABLE_INDEXES_MAX = 20;

const FOLDER_SERVICES: Readonly<Record<string, readonly Service[]>> = {
  workflows: [workflowsService, rootService],
  documents: [documentsService],
};

export function routeFaults(routes: readonly ScannedRoute[]): string[] {
  const faults: string[] = [];
  const operations = new Map<string, string>();
  const addresses = new Map<string, string>();
  const places = new Map<string, { parameter: string; entry: string }>();
  for (const { entry, route } of routes) {
    const fault = (text: string): number => faults.push(`${entry}: ${text}`);
    if (!isCamelCase(route.operationId)) fault(`operationId ${route.operationId} must be camelCase`);
    const folder = entry.split("/")[1] ?? "";
    if (!(FOLDER_SERVICES[folder] ?? []).includes(route.service)) {
      fault(`service ${route.service.name} must not be in functions/${folder}`);
    }
    if (route.throttle !== undefined && route.service.throttles?.includes(route.throttle) !== true) {
      fault(`throttle ${route.throttle} is not a scope of the service ${route.service.name}`);
    }
    const path = fullPath(route);
    if (!route.path.startsWith("/") || !isPath(path))
      fault(`path ${path} must start with /, have no empty segment and no trailing slash, and end with {proxy+} if it contains it`);
    if ((route.timeoutSeconds ?? 0) > ROUTE_TIMEOUT_SECONDS && !isStreamed(route)) {
      fault(`timeoutSeconds must be at most ${ROUTE_TIMEOUT_SECONDS}, the timeout of API Gateway`);
    }
    faults.push(...sizeFaults(entry, route.timeoutSeconds, route.memoryMb));
    clash(operations, route.operationId, entry, "operationId", faults);
    clash(addresses, `${route.method} ${path}`, entry, "route", faults);
    faults.push(...placeFaults(path, entry, places));
  }
  return faults;
}

function isPath(path: string): boolean {
  if (path === "/") return true;
  const parts = path.split("/").slice(1);
  const known = (part: string, index: number): boolean =>
    /^(?:[\w.~-]+|\{[A-Za-z][A-Za-z0-9]*\})$/.test(part) ||
    (part === "{proxy+}" && index === parts.length - 1);
  return parts.every(known);
}

/** API Gateway allows one parameter name per segment: `/runs/{id}` excludes `/runs/{run}/steps`. */
function placeFaults(
  path: string,
  entry: string,
  places: Map<string, { parameter: string; entry: string }>,
): string[] {
  const faults: string[] = [];
  let parent = "";
  for (const part of path.split("/").slice(1)) {
    if (part.startsWith("{")) {
      const known = places.get(parent);
      if (known === undefined) places.set(parent, { parameter: part, entry });
      else if (known.parameter !== part) {
        faults.push(
          `${entry}: path ${path} has ${part} where ${known.entry} has ${known.parameter}: use the same name`,
        );
      }
    }
    parent += `/${part}`;
  }
  return faults;
}

export function consumerFaults(consumers: readonly ScannedConsumer[]): string[] {
  const faults: string[] = [];
  const names = new Map<string, string>();
  const deadLetters = new Map<string, string>();
  for (const { entry, consumer } of consumers) {
    const fault = (text: string): number => faults.push(`${entry}: ${text}`);
    if (!isKebabCase(consumer.name)) fault(`name ${consumer.name} must be kebab-case`);
    else if (consumer.name !== basename(entry, ".ts"))
      fault(`name ${consumer.name} must equal the file's name`);
    clash(names, consumer.name, entry, "consumer", faults);
    if (consumer.deadLetters === true) clash(deadLetters, "deadLetters", entry, "consumer of", faults);
    if (consumer.schedule !== undefined && !/^(?:rate|cron)\(.+\)$/.test(consumer.schedule)) {
      fault(`schedule ${consumer.schedule} must be rate(…) or cron(…)`);
    }
    const { batchSize, maxReceiveCount, concurrency } = consumer.queue;
    if (!isWhole(batchSize, 1, BATCH_SIZE_MAX)) fault(`queue.batchSize must be 1 to ${BATCH_SIZE_MAX}`);
    if (!isWhole(maxReceiveCount, 1, MAX_RECEIVE_COUNT_MAX)) {
      fault(`queue.maxReceiveCount must be 1 to ${MAX_RECEIVE_COUNT_MAX}`);
    }
    if (!isWhole(concurrency, 1, CONCURRENCY_MAX)) fault(`queue.concurrency must be 1 to ${CONCURRENCY_MAX}`);
    faults.push(...sizeFaults(entry, consumer.timeoutSeconds, consumer.memoryMb));
  }
  return faults;
}

function sizeFaults(
  entry: string,
  timeoutSeconds: number | undefined,
  memoryMb: number | undefined,
): string[] {
  const faults: string[] = [];
  if (timeoutSeconds !== undefined && !isWhole(timeoutSeconds, 1, FUNCTION_TIMEOUT_MAX_SECONDS)) {
    faults.push(`${entry}: timeoutSeconds must be 1 to ${FUNCTION_TIMEOUT_MAX_SECONDS}`);
  }
  if (memoryMb !== undefined && !isWhole(memoryMb, FUNCTION_MEMORY_MIN_MB, FUNCTION_MEMORY_MAX_MB)) {
    faults.push(`${entry}: memoryMb must be ${FUNCTION_MEMORY_MIN_MB} to ${FUNCTION_MEMORY_MAX_MB}`);
  }
  return faults;
}

export function tableFaults(tables: readonly TableSpec[]): string[] {
  const faults: string[] = [];
  const names = new Map<string, string>();
  for (const { name, indexes } of tables) {
    if (!isKebabCase(name)) faults.push(`lib/tables.ts: name ${name} must be kebab-case`);
    clash(names, name, "lib/tables.ts", "table", faults);
    if (Object.keys(indexes).length > TABLE_INDEXES_MAX) {
      faults.push(`lib/tables.ts: ${name} must have at most ${TABLE_INDEXES_MAX} indexes`);
    }
  }
  return faults;
}

/** Routes and consumers share the template's namespace of logical ids. */
export function logicalIdFaults(
  routes: readonly ScannedRoute[],
  consumers: readonly ScannedConsumer[],
): string[] {
  const operations = new Map(routes.map(({ entry, route }) => [toPascalCase(route.operationId), entry]));
  return consumers.flatMap(({ entry, consumer }) => {
    const other = operations.get(toPascalCase(consumer.name));
    return other === undefined
      ? []
      : [`${entry}: consumer ${consumer.name} has the function name of ${other}`];
  });
}

function clash(known: Map<string, string>, key: string, entry: string, what: string, faults: string[]): void {
  const other = known.get(key);
  if (other === undefined) known.set(key, entry);
  else faults.push(`${entry}: ${what} ${key} is also used by ${other}`);
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
