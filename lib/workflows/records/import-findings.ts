import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { type EventDeps, type EventDraft, emitEvents } from "../../events/publish.ts";
import { eventBatches } from "../findings/event-batches.ts";
import { detectFormat, type LineFormat, readFinding } from "../script-library/finding-lines.ts";

/** Maximum number of lines of one import, and longest line, characters. */
export const IMPORT_LINES_MAX = 100_000;
const LINE_MAX_LENGTH = 1024 * 1024;
/** Maximum number of concurrent transactions. */
const UNDER_WAY = 8;
const FAULTS_SHOWN = 10;

export const importResponse = z
  .object({
    message: z.string(),
    workspace: z.string(),
    format: z.string(),
    lines: z.int().describe("Number of lines that are neither blank nor comments"),
    assets: z.object({ discovered: z.int(), updated: z.int(), unchanged: z.int() }),
    vulnerabilities: z.object({ found: z.int(), known: z.int() }),
    skipped: z.int().describe("Number of lines that could not be imported"),
    errors: z.array(z.object({ line: z.int(), message: z.string() })).describe("The first of these lines"),
  })
  .meta({ id: "ImportAnswer" });

export interface ImportRequest {
  readonly text: string;
  readonly workspace: string;
  /** Default: detected from the first line. */
  readonly format: LineFormat | undefined;
  /** The source of the findings; default: the name of the format. */
  readonly source: string | undefined;
}

/**
 * Imports findings into a workspace; each new or changed one generates an event. Idempotent, so an interrupted import
 * can be repeated. Throws `bad_request` and `payload_too_large`.
 */
export async function importFindings(
  deps: EventDeps,
  { text, workspace, format: wanted, source }: ImportRequest,
): Promise<z.infer<typeof importResponse>> {
  const first = firstLine(text);
  if (first === undefined) throw new ApiError("bad_request", "body: must have at least one line");
  checkLines(text);
  const format = wanted ?? detectFormat(first);
  const base = {
    source: source ?? (format === "plain" || format === "jsonl" ? "import" : format),
    workspace,
  };
  const counts = { discovered: 0, updated: 0, found: 0 };
  let [lines, skipped, assets, vulnerabilities] = [0, 0, 0, 0];
  const errors: { line: number; message: string }[] = [];
  const findings = function* (): Generator<EventDraft> {
    for (const [line, number] of linesOf(text)) {
      const read = readFinding(line, format);
      if (read === undefined) continue;
      lines += 1;
      if ("fault" in read) {
        skipped += 1;
        if (errors.length < FAULTS_SHOWN) errors.push({ line: number, message: read.fault });
        continue;
      }
      if (read.asset !== undefined) {
        assets += 1;
        yield { ...base, topic: "asset.discovered", effect: "asset", data: read.asset };
      }
      if (read.vulnerability === undefined) continue;
      vulnerabilities += 1;
      yield { ...base, topic: "vuln.found", effect: "vulnerability", data: read.vulnerability };
    }
  };
  const batches = eventBatches(findings());
  const work = async (): Promise<void> => {
    for (let next = batches.next(); next.done !== true; next = batches.next()) {
      for (const { topic } of await emitEvents(deps, next.value)) {
        if (topic === "asset.discovered") counts.discovered += 1;
        else if (topic === "asset.updated") counts.updated += 1;
        else counts.found += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, work));
  const { discovered, updated, found } = counts;
  return {
    message: "Findings imported",
    workspace,
    format,
    lines,
    assets: { discovered, updated, unchanged: assets - discovered - updated },
    vulnerabilities: { found, known: vulnerabilities - found },
    skipped,
    errors,
  };
}

function firstLine(text: string): string | undefined {
  for (const [line] of linesOf(text)) if (line.trim() !== "") return line;
  return undefined;
}

/** Validates all lines before the first one is imported. */
function checkLines(text: string): void {
  let lines = 0;
  for (const [line, number] of linesOf(text)) {
    if (line.length > LINE_MAX_LENGTH)
      throw new ApiError(
        "bad_request",
        `body: line ${number} must have at most ${LINE_MAX_LENGTH} characters`,
      );
    if (line.trim() !== "") lines += 1;
    if (lines > IMPORT_LINES_MAX)
      throw new ApiError("payload_too_large", `body: must have at most ${IMPORT_LINES_MAX} lines`);
  }
}

/** Yields lines with their numbers, from 1, without keeping them in memory. */
function* linesOf(text: string): Generator<readonly [line: string, number: number]> {
  let number = 1;
  let start = text.startsWith("\uFEFF") ? 1 : 0;
  for (let end = text.indexOf("\n", start); end >= 0; end = text.indexOf("\n", start)) {
    yield [text.slice(start, end), number];
    number += 1;
    start = end + 1;
  }
  if (start < text.length) yield [text.slice(start), number];
}
