import { LIMITS, type Limit, type LimitName } from "../../lib/platform/limits.ts";
import { type Marks, ROUGH, ROUGH_SHARE } from "../../lib/platform/marks.ts";
import { type KeptMarks, MARKS_FILE, readMarksFile } from "../../lib/platform/marks-file.ts";
import type { TemplateFunction } from "../../localstack/template.ts";
import { type CountedTemplate, countTemplate, type StackCounts } from "./doctor-template.ts";

/** A limit, and how near Weft has come to it. */
export interface LimitRow {
  readonly limit: LimitName;
  readonly unit: Limit["unit"];
  readonly source: string;
  readonly allowed: number;
  /** The largest value seen or declared; null where none was. */
  readonly mark: number | null;
  /** False where the mark is an upper bound of what was seen. */
  readonly exact: boolean;
  /** Percent of what is allowed. */
  readonly share: number | null;
  /** What becomes of more than is allowed. */
  readonly beyond: "refused" | "split" | "elsewhere";
  /** The function, template, rule or queue that it is about. */
  readonly where: string | null;
}

/** A function, and the longest that it took. */
export interface HandlerRow {
  readonly function: string;
  readonly ms: number;
  /** Null where it is not in the template any more, and for workers, which take their time. */
  readonly timeoutSeconds: number | null;
  readonly share: number | null;
}

export interface AwsReport {
  readonly fits: boolean;
  /** What would not fit, one line each. */
  readonly faults: readonly string[];
  /** Why little is known, or null. */
  readonly note: string | null;
  /** ISO 8601: since when marks are kept, and when they were last written; null where there are none. */
  readonly since: string | null;
  readonly written: string | null;
  readonly limits: readonly LimitRow[];
  /** Longest share of its timeout first. */
  readonly handlers: readonly HandlerRow[];
  readonly stacks: readonly StackCounts[];
}

interface Found {
  readonly value: number;
  readonly where?: string;
}

const NOTES = {
  none: "Nothing was seen yet: start Weft on this data folder, work with it, then ask again. A running server writes what it sees every few seconds.",
  unreadable: `${MARKS_FILE} in the data folder cannot be read, so nothing is known of what was seen. A server begins it anew.`,
};

/** Compares what servers of a data folder have seen, and what the template declares, with the limits. Throws TemplateError. */
export function awsReport(options: { readonly dataDir: string; readonly templatePath: string }): AwsReport {
  const kept = readMarksFile(options.dataDir);
  const known: KeptMarks | undefined = typeof kept === "string" ? undefined : kept;
  const marks: Marks = known ?? { limits: {}, handlers: {} };
  const counted = countTemplate(options.templatePath);
  const handlers = handlerRows(marks.handlers, counted.template.functions);
  const found = declared(counted, handlers);
  const limits = (Object.keys(LIMITS) as LimitName[]).map((name) =>
    limitRow(name, marks.limits[name], found[name]),
  );
  const faults = [...limits.flatMap(limitFaults), ...handlers.flatMap(handlerFaults)];
  return {
    fits: faults.length === 0,
    faults,
    note: typeof kept === "string" ? NOTES[kept] : null,
    since: known?.since ?? null,
    written: known?.written ?? null,
    limits,
    handlers,
    stacks: counted.stacks,
  };
}

function largest(found: readonly Found[]): Found | undefined {
  return found.reduce<Found | undefined>(
    (most, one) => (most === undefined || one.value > most.value ? one : most),
    undefined,
  );
}

/** What the template says, and the functions' times. */
function declared(
  { template, stacks }: CountedTemplate,
  handlers: readonly HandlerRow[],
): Partial<Record<LimitName, Found | undefined>> {
  const { queues, rules, schedules } = template.resources;
  const buffered = new Set(template.functions.filter(isBuffered).map(({ logicalId }) => logicalId));
  const times = handlers
    .filter(({ timeoutSeconds }) => timeoutSeconds !== null)
    .map(({ function: where, ms }) => ({ value: ms / 1000, where }));
  return {
    visibilitySeconds: largest(
      queues.map(({ name, visibilitySeconds }) => ({ value: visibilitySeconds, where: name })),
    ),
    retentionSeconds: largest(
      queues.map(({ name, retentionSeconds }) => ({ value: retentionSeconds, where: name })),
    ),
    // Those with a schedule are on the account's default bus.
    busRules: largest([{ value: rules.length }, { value: schedules.length, where: "default bus" }]),
    ruleTargets: largest(
      [...rules, ...schedules].map((rule) => ({ value: rule.queues.length, where: rule.name })),
    ),
    handlerSeconds: largest(times),
    httpHandlerSeconds: largest(times.filter(({ where }) => buffered.has(where))),
    environmentBytes: largest(
      stacks.flatMap(({ longestEnvironment: longest }) =>
        longest === null ? [] : [{ value: longest.bytes, where: longest.function }],
      ),
    ),
    stackResources: largest(stacks.map(({ file, resources }) => ({ value: resources, where: file }))),
    stackOutputs: largest(stacks.map(({ file, outputs }) => ({ value: outputs, where: file }))),
    templateBytes: largest(stacks.map(({ file, bytes }) => ({ value: bytes, where: file }))),
    apiResources: largest(stacks.map(({ file, apiResources }) => ({ value: apiResources, where: file }))),
    managedPolicyCharacters: largest(
      stacks.flatMap(({ largestPolicy: policy }) =>
        policy === null ? [] : [{ value: policy.characters, where: policy.role }],
      ),
    ),
    rolePolicies: largest(
      stacks.flatMap(({ mostPolicies: most }) =>
        most === null ? [] : [{ value: most.policies, where: most.role }],
      ),
    ),
    stackParameters: largest(stacks.map(({ file, parameters }) => ({ value: parameters, where: file }))),
  };
}

function isBuffered({ worker, routes }: TemplateFunction): boolean {
  return !worker && routes.some(({ stream }) => !stream);
}

function limitRow(limit: LimitName, seen: number | undefined, found: Found | undefined): LimitRow {
  const { unit, source, value: allowed, beyond }: Limit = LIMITS[limit];
  const bySight = seen !== undefined && (found === undefined || seen > found.value);
  const mark = bySight ? seen : (found?.value ?? null);
  return {
    limit,
    unit,
    source,
    allowed,
    mark,
    exact: !(isRough(limit) && (seen ?? 0) <= allowed * ROUGH_SHARE),
    share: mark === null ? null : percent(mark, allowed),
    beyond: beyond ?? "refused",
    where: bySight ? null : (found?.where ?? null),
  };
}

function isRough(limit: LimitName): boolean {
  return (ROUGH as readonly LimitName[]).includes(limit);
}

function limitFaults({ limit, unit, source, allowed, mark, beyond, where }: LimitRow): string[] {
  if (mark === null || mark <= allowed || beyond !== "refused") return [];
  return [
    `${where === null ? "" : `${where}: `}${limit} came to ${mark} ${unit}; ${source} allows ${allowed}`,
  ];
}

function handlerRows(times: Marks["handlers"], functions: readonly TemplateFunction[]): HandlerRow[] {
  const byId = new Map(functions.map((fn) => [fn.logicalId, fn]));
  const rows = Object.entries(times).map(([name, ms]): HandlerRow => {
    const fn = byId.get(name);
    const timeoutSeconds = fn === undefined || fn.worker ? null : fn.timeoutSeconds;
    const share = timeoutSeconds === null ? null : percent(ms, timeoutSeconds * 1000);
    return { function: name, ms: Math.round(ms * 10) / 10, timeoutSeconds, share };
  });
  return rows.sort((left, right) => (right.share ?? -1) - (left.share ?? -1) || right.ms - left.ms);
}

/** One that was cut off has taken all of its time. */
function handlerFaults({ function: name, ms, timeoutSeconds }: HandlerRow): string[] {
  if (timeoutSeconds === null || ms < timeoutSeconds * 1000) return [];
  return [`${name} took ${(ms / 1000).toFixed(1)} s; its timeout is ${timeoutSeconds} s`];
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 1000) / 10;
}
