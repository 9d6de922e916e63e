import type { HighWaterMarks } from "../../lib/platform/high-water-marks.ts";
import {
  HIGH_WATER_MARKS_FILE,
  readHighWaterMarksFile,
  type StoredHighWaterMarks,
} from "../../lib/platform/high-water-marks-file.ts";
import { LIMITS, type Limit, type LimitName } from "../../lib/platform/limits.ts";
import type { TemplateFunction } from "../../localstack/template.ts";
import { type CountedTemplate, countTemplate, type StackCounts } from "./doctor-template.ts";

/** A limit of AWS and the highest value that Weft has reached. */
export interface LimitRow {
  readonly limit: LimitName;
  readonly unit: Limit["unit"];
  readonly source: string;
  readonly allowed: number;
  /** The highest value measured or declared; null if there is none. */
  readonly mark: number | null;
  /** Percent of the limit. */
  readonly share: number | null;
  /** What happens to values above the limit. */
  readonly beyond: "refused" | "split" | "elsewhere";
  /** The function, template, rule or queue with the highest value. */
  readonly where: string | null;
}

/** The longest duration of a function. */
export interface HandlerRow {
  readonly function: string;
  readonly ms: number;
  /** Null for a function that the template no longer contains, and for workers, which have no timeout. */
  readonly timeoutSeconds: number | null;
  readonly share: number | null;
}

export interface AwsReport {
  readonly fits: boolean;
  /** The exceeded limits, one line each. */
  readonly faults: readonly string[];
  /** Why values are missing, or null. */
  readonly note: string | null;
  /** ISO 8601: when measuring began, and when the values were last written; null without values. */
  readonly since: string | null;
  readonly written: string | null;
  readonly limits: readonly LimitRow[];
  /** The largest share of the timeout first. */
  readonly handlers: readonly HandlerRow[];
  readonly stacks: readonly StackCounts[];
}

interface Candidate {
  readonly value: number;
  readonly where?: string;
}

const NOTES = {
  none: "Nothing was measured yet: start Weft on this data folder with RECORD_HIGH_WATER_MARKS=true, use it, then repeat the command. The server writes its measurements every few seconds.",
  unreadable: `${HIGH_WATER_MARKS_FILE} in the data folder cannot be read, so measured values are missing. The next start of a server replaces it.`,
};

/** Compares the values measured on a data folder and declared in the template with the limits. Throws TemplateError. */
export function awsReport(options: { readonly dataDir: string; readonly templatePath: string }): AwsReport {
  const kept = readHighWaterMarksFile(options.dataDir);
  const known: StoredHighWaterMarks | undefined = typeof kept === "string" ? undefined : kept;
  const marks: HighWaterMarks = known ?? { limits: {}, handlers: {} };
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

function largest(found: readonly Candidate[]): Candidate | undefined {
  return found.reduce<Candidate | undefined>(
    (most, one) => (most === undefined || one.value > most.value ? one : most),
    undefined,
  );
}

/** Values that the template declares, and the functions' durations. */
function declared(
  { template, stacks }: CountedTemplate,
  handlers: readonly HandlerRow[],
): Partial<Record<LimitName, Candidate | undefined>> {
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
    // Rules with a schedule are on the account's default bus.
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

function limitRow(limit: LimitName, measured: number | undefined, found: Candidate | undefined): LimitRow {
  const { unit, source, value: allowed, beyond }: Limit = LIMITS[limit];
  const isMeasured = measured !== undefined && (found === undefined || measured > found.value);
  const mark = isMeasured ? measured : (found?.value ?? null);
  return {
    limit,
    unit,
    source,
    allowed,
    mark,
    share: mark === null ? null : percent(mark, allowed),
    beyond: beyond ?? "refused",
    where: isMeasured ? null : (found?.where ?? null),
  };
}

function limitFaults({ limit, unit, source, allowed, mark, beyond, where }: LimitRow): string[] {
  if (mark === null || mark <= allowed || beyond !== "refused") return [];
  return [
    `${where === null ? "" : `${where}: `}${limit} reached ${mark} ${unit}; ${source} allows ${allowed}`,
  ];
}

function handlerRows(
  times: HighWaterMarks["handlers"],
  functions: readonly TemplateFunction[],
): HandlerRow[] {
  const byId = new Map(functions.map((fn) => [fn.logicalId, fn]));
  const rows = Object.entries(times).map(([name, ms]): HandlerRow => {
    const fn = byId.get(name);
    const timeoutSeconds = fn === undefined || fn.worker ? null : fn.timeoutSeconds;
    const share = timeoutSeconds === null ? null : percent(ms, timeoutSeconds * 1000);
    return { function: name, ms: Math.round(ms * 10) / 10, timeoutSeconds, share };
  });
  return rows.sort((left, right) => (right.share ?? -1) - (left.share ?? -1) || right.ms - left.ms);
}

/** A function that was stopped by its timeout took exactly that long. */
function handlerFaults({ function: name, ms, timeoutSeconds }: HandlerRow): string[] {
  if (timeoutSeconds === null || ms < timeoutSeconds * 1000) return [];
  return [`${name} took ${(ms / 1000).toFixed(1)} s; its timeout is ${timeoutSeconds} s`];
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 1000) / 10;
}
