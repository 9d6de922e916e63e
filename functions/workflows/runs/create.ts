import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readCause, requireHopLimit } from "#lib/workflows/installation/hop-tokens.ts";
import { dryRun } from "#lib/workflows/runs/dry-run.ts";
import { requireManualStart } from "#lib/workflows/runs/manual-trigger.ts";
import { startBody, startResponse, startRun } from "#lib/workflows/runs/start.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "createRun",
  method: "POST",
  path: "/runs",
  summary: "Run a module or a flow; with dry_run only plan the run and return 200",
  tag: "Runs",
  auth: "required",
  body: startBody,
  status: 202,
  response: startResponse,
  errors: [413],
  scripts: true,
  run: async ({ body, request }, deps: Deps) => {
    if (body.dry_run === true) return new HttpResponse(await dryRun(deps, body), { status: 200 });
    const cause = await readCause(deps, request.headers);
    requireHopLimit(cause.hop);
    await requireManualStart(deps, body.flow || body.module || "");
    return startRun(deps, body, cause);
  },
});

export const handler = toHandler(route, openDeps);
