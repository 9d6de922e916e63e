import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { completeOnboarding } from "#lib/documents/users/update.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.13, POST users/onboarding-done/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "endOnboarding",
  method: "POST",
  path: "/users/onboarding-done",
  summary: "Mark the introduction as completed",
  tag: "Users",
  auth: "required",
  status: 200,
  response: z.object({ detail: z.string() }),
  run: async ({ request }, deps: Deps) => {
    await completeOnboarding(deps, await requireUser(deps, request));
    return { detail: "Onboarding marked as done." };
  },
});

export const handler = toHandler(route, openDeps);
