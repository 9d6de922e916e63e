import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listSnapshots, snapshotList } from "#lib/workflows/snapshots/store.ts";

/** Reference 1.9, GET /snapshots. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listSnapshots",
  method: "GET",
  path: "/snapshots",
  summary: "List stored snapshots, newest first",
  tag: "Snapshots",
  auth: "required",
  status: 200,
  response: snapshotList,
  run: (_input, deps: Deps) => listSnapshots(deps),
});

export const handler = toHandler(route, openDeps);
