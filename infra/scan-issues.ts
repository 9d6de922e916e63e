import { basename } from "node:path";
import {
  conversionService,
  documentsService,
  externalService,
  loginService,
  mediaService,
} from "../lib/documents/service.ts";
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
const FUNCTION_STORAGE_MIN_MB = 512;
const FUNCTION_STORAGE_MAX_MB = 10_240;
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
  documents: [documentsService, externalService, loginService, mediaService, conversionService],
};

export function findRouteIssues(routes: readonly ScannedRoute[]): string[] {
  const issues: string[] = [];
  const operations = new Map<string, string>();
  const addresses = new Map<string, string>();
  const parameters = new Map<string, { parameter: string; entry: string }>();
  for (const { entry, route } of routes) {
    const issue = (text: string): number => issues.push(`${entry}: ${text}`);
    if (!isCamelCase(route.operationId)) issue(`operationId ${route.operationId} must be camelCase`);
    const folder = entry.split("/")[1] ?? "";
    if (!(FOLDER_SERVICES[folder] ?? []).includes(route.service)) {
      issue(`service ${route.service.name} must not be in functions/${folder}`);
    }
    if (route.throttle !== undefined && route.service.throttles?.includes(route.throttle) !== true) {
      issue(`throttle ${route.throttle} is not a scope of the service ${route.service.name}`);
    }
    const path = fullPath(route);
    if (!route.path.startsWith("/") || !isPath(path))
      issue(
        `path ${path} must start with /, have no empty segment and no trailing slash, and end with {proxy+} if it contains it`,
      );
    if ((route.timeoutSeconds ?? 0) > ROUTE_TIMEOUT_SECONDS && !isStreamed(route)) {
      issue(`timeoutSeconds must be at most ${ROUTE_TIMEOUT_SECONDS}, the timeout of API Gateway`);
    }
    issues.push(...findSizeIssues(entry, route.timeoutSeconds, route.memoryMb));
    reportDuplicate(operations, route.operationId, entry, "operationId", issues);
    reportDuplicate(addresses, `${route.method} ${path}`, entry, "route", issues);
    issues.push(...findParameterIssues(path, entry, parameters));
  }
  return issues;
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
function findParameterIssues(
  path: string,
  entry: string,
  places: Map<string, { parameter: string; entry: string }>,
): string[] {
  const issues: string[] = [];
  let parent = "";
  for (const part of path.split("/").slice(1)) {
    if (part.startsWith("{")) {
      const known = places.get(parent);
      if (known === undefined) places.set(parent, { parameter: part, entry });
      else if (known.parameter !== part) {
        issues.push(
          `${entry}: path ${path} has ${part} where ${known.entry} has ${known.parameter}: use the same name`,
        );
      }
    }
    parent += `/${part}`;
  }
  return issues;
}

export function findConsumerIssues(consumers: readonly ScannedConsumer[]): string[] {
  const issues: string[] = [];
  const names = new Map<string, string>();
  const deadLetters = new Map<string, string>();
  for (const { entry, consumer } of consumers) {
    const issue = (text: string): number => issues.push(`${entry}: ${text}`);
    if (!isKebabCase(consumer.name)) issue(`name ${consumer.name} must be kebab-case`);
    else if (consumer.name !== basename(entry, ".ts"))
      issue(`name ${consumer.name} must equal the file's name`);
    reportDuplicate(names, consumer.name, entry, "consumer", issues);
    if (consumer.deadLetters === true)
      reportDuplicate(deadLetters, "deadLetters", entry, "consumer of", issues);
    if (consumer.schedule !== undefined && !/^(?:rate|cron)\(.+\)$/.test(consumer.schedule)) {
      issue(`schedule ${consumer.schedule} must be rate(…) or cron(…)`);
    }
    const { batchSize, maxReceiveCount, concurrency } = consumer.queue;
    if (!isWhole(batchSize, 1, BATCH_SIZE_MAX)) issue(`queue.batchSize must be 1 to ${BATCH_SIZE_MAX}`);
    if (!isWhole(maxReceiveCount, 1, MAX_RECEIVE_COUNT_MAX)) {
      issue(`queue.maxReceiveCount must be 1 to ${MAX_RECEIVE_COUNT_MAX}`);
    }
    if (!isWhole(concurrency, 1, CONCURRENCY_MAX)) issue(`queue.concurrency must be 1 to ${CONCURRENCY_MAX}`);
    issues.push(...findSizeIssues(entry, consumer.timeoutSeconds, consumer.memoryMb));
    const { storageMb } = consumer;
    if (storageMb !== undefined && !isWhole(storageMb, FUNCTION_STORAGE_MIN_MB, FUNCTION_STORAGE_MAX_MB))
      issue(`storageMb must be ${FUNCTION_STORAGE_MIN_MB} to ${FUNCTION_STORAGE_MAX_MB}`);
  }
  return issues;
}

function findSizeIssues(
  entry: string,
  timeoutSeconds: number | undefined,
  memoryMb: number | undefined,
): string[] {
  const issues: string[] = [];
  if (timeoutSeconds !== undefined && !isWhole(timeoutSeconds, 1, FUNCTION_TIMEOUT_MAX_SECONDS)) {
    issues.push(`${entry}: timeoutSeconds must be 1 to ${FUNCTION_TIMEOUT_MAX_SECONDS}`);
  }
  if (memoryMb !== undefined && !isWhole(memoryMb, FUNCTION_MEMORY_MIN_MB, FUNCTION_MEMORY_MAX_MB)) {
    issues.push(`${entry}: memoryMb must be ${FUNCTION_MEMORY_MIN_MB} to ${FUNCTION_MEMORY_MAX_MB}`);
  }
  return issues;
}

export function findTableIssues(tables: readonly TableSpec[]): string[] {
  const issues: string[] = [];
  const names = new Map<string, string>();
  for (const { name, indexes } of tables) {
    if (!isKebabCase(name)) issues.push(`lib/tables.ts: name ${name} must be kebab-case`);
    reportDuplicate(names, name, "lib/tables.ts", "table", issues);
    if (Object.keys(indexes).length > TABLE_INDEXES_MAX) {
      issues.push(`lib/tables.ts: ${name} must have at most ${TABLE_INDEXES_MAX} indexes`);
    }
  }
  return issues;
}

/** Routes and consumers share the template's namespace of logical ids. */
export function findLogicalIdIssues(
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

function reportDuplicate(
  known: Map<string, string>,
  key: string,
  entry: string,
  what: string,
  issues: string[],
): void {
  const other = known.get(key);
  if (other === undefined) known.set(key, entry);
  else issues.push(`${entry}: ${what} ${key} is also used by ${other}`);
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
