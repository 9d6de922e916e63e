import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { labelText } from "#lib/events/label-text.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { DEFAULT_WORKSPACE } from "#lib/workflows/findings/event-effects.ts";
import { importFindings, importResponse } from "#lib/workflows/records/import-findings.ts";
import { LINE_FORMATS } from "#lib/workflows/script-library/finding-lines.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** The limit of a function's input: quotes take twice their size in JSON. */
const IMPORT_LIMIT_BYTES = 4 * 1024 * 1024;

/** Choice: infra/decisions/0045. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "importAssets",
  method: "POST",
  path: "/assets/import",
  summary: "Import findings: JSONL of httpx or nuclei, other JSONL, or a plain list",
  tag: "Assets",
  auth: "required",
  query: z.object({
    workspace: textQuery.pipe(labelText.optional()),
    format: z
      .enum(["", ...LINE_FORMATS], `must be one of ${LINE_FORMATS.join(", ")}`)
      .optional()
      .describe("Default: detected from the first line"),
    source: textQuery.pipe(labelText.optional()),
  }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["text/plain", "application/x-ndjson", "application/json"],
  bodyLimitBytes: IMPORT_LIMIT_BYTES,
  memoryMb: 1024,
  status: 200,
  response: importResponse,
  errors: [413],
  run: ({ body, query }, deps: Deps) =>
    importFindings(deps, {
      text: body.text,
      workspace: query.workspace ?? DEFAULT_WORKSPACE,
      format: query.format === "" ? undefined : query.format,
      source: query.source,
    }),
});

export const handler = toHandler(route, openDeps);
