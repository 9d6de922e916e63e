import { createReadStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { EventDraft } from "../../events/publish.ts";
import { redactJson } from "../../events/redact-json.ts";
import { isInsidePath } from "../artifacts/artifact-paths.ts";
import { failureText } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import { eventBatches } from "../findings/event-batches.ts";
import type { Report } from "../schema/types.ts";
import { scanEntry } from "../workspaces/folder.ts";
import type { Attempt, Scope } from "./context.ts";
import { logStep } from "./run-log.ts";

/** Lines of larger files are not counted, bytes. */
const COUNTED_BYTES = 64 * 1024 * 1024;

/**
 * Records the existing reports of a successful module or flow as artifacts; they must be in the run's workspace. A
 * missing report is logged in the run's log, unless it is optional, and does not change the run's outcome. Reference
 * 2.1, 6.
 */
export async function recordReports(
  attempt: Attempt,
  scope: Scope,
  reports: readonly Report[],
): Promise<void> {
  const drafts: EventDraft[] = [];
  for (const report of reports) {
    const found = await lookFor(attempt, scope, report).catch((thrown: unknown) => ({
      missing: failureText(thrown),
    }));
    if ("data" in found) drafts.push(draftOf(attempt, found.data));
    else if (!report.optional) tellMissing(attempt, report, found.missing);
  }
  for (const batch of eventBatches(drafts)) await attempt.emit(batch);
}

type Found = { readonly data: Record<string, unknown> } | { readonly missing: string };

async function lookFor({ workspace }: Attempt, scope: Scope, report: Report): Promise<Found> {
  const text = (source: string): string => renderText(parseTemplate(source, scope), scope.values);
  const path = text(report.path);
  const artifact_path = relative(workspace, resolve(workspace, path)).replaceAll("\\", "/");
  if (!isInsidePath(artifact_path)) return { missing: `${path} is not in the workspace` };
  const file = join(await realpath(workspace), artifact_path);
  // The target of a link does not belong to the workspace.
  const real = await realpath(file).catch(() => undefined);
  const seen = real === file ? await scanEntry(file) : undefined;
  if (seen?.kind !== "file" && seen?.kind !== "folder") return { missing: `${artifact_path} does not exist` };
  return {
    data: {
      artifact_path,
      artifact_type: "report",
      is_folder: seen.kind === "folder",
      name: report.name === undefined ? "" : text(report.name),
      description: text(report.description ?? ""),
      content_type: report.type ?? "",
      optional: report.optional,
      size_bytes: seen.kind === "file" ? seen.bytes : 0,
      line_count: seen.kind === "file" && seen.bytes <= COUNTED_BYTES ? await linesOf(file) : 0,
    },
  };
}

const NEWLINE = 10;

async function linesOf(path: string): Promise<number> {
  let count = 0;
  let last = NEWLINE;
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count += 1;
    last = chunk.at(-1) ?? last;
  }
  return last === NEWLINE ? count : count + 1;
}

function draftOf({ run, deps }: Attempt, data: Record<string, unknown>): EventDraft {
  const { run_id, workflow_name, workspace } = run;
  return {
    topic: "artifact.registered",
    source: "",
    data_type: "artifact",
    effect: "artifact",
    workspace,
    run_id,
    workflow_name,
    hop: run.hop + 1,
    data: redactJson(data, deps.secrets.redact),
  };
}

function tellMissing(attempt: Attempt, { name, path }: Report, why: string): void {
  const text = attempt.deps.secrets.redact(`report ${name ?? path} is missing: ${why}`);
  attempt.deps.log.warn("workflow message", { run: attempt.run.run_id, step: attempt.request.key, text });
  logStep(attempt, text);
}
