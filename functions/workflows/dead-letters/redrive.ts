import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { redriveDeadLetter } from "#lib/workflows/dead-letters/dead-letters.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "redriveDeadLetter",
  method: "POST",
  path: "/dead-letters/{id}/redrive",
  summary: "Send a dead letter to its queue again",
  tag: "Dead letters",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 202,
  response: z.object({ message: z.string(), id: z.string(), queue: z.string() }),
  run: async ({ params }, deps: Deps) => {
    const letter = await redriveDeadLetter(deps, params.id);
    return { message: "Message sent again", id: letter.id, queue: letter.queue };
  },
});

export const handler = toHandler(route, openDeps);
