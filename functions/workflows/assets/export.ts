import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { assetsCsv } from "#lib/workflows/assets/export.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "exportAssets",
  method: "GET",
  path: "/assets/export",
  summary: "Export assets as CSV, newest first",
  tag: "Assets",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    asset_type: textQuery,
    source: textQuery,
    status_code: textQuery,
    search: textQuery.describe("Substring of the value, url, title or host address"),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["text/csv"],
  run: ({ query }, deps: Deps) => ({
    type: "text/csv; charset=utf-8",
    name: `assets${query.workspace === undefined ? "" : `-${query.workspace}`}.csv`,
    content: assetsCsv(deps, query),
  }),
});

export const handler = toHandler(route, openDeps);
