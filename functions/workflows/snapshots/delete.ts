import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { deleteSnapshot } from "#lib/workflows/snapshots/store.ts";

/** Reference 1.9, DELETE /snapshots/:name. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "deleteSnapshot",
  method: "DELETE",
  path: "/snapshots/{name}",
  summary: "Delete a snapshot of this installation",
  tag: "Snapshots",
  auth: "required",
  params: z.object({ name: z.string().max(1024) }),
  status: 200,
  response: z.object({ message: z.string() }),
  run: async ({ params }, deps: Deps) => {
    await deleteSnapshot(deps, params.name);
    return { message: "Snapshot deleted" };
  },
});

export const handler = toHandler(route, openDeps);
