import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { checkReady } from "#lib/workflows/health/ready.ts";
import { rootService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: rootService,
  operationId: "getReadiness",
  method: "GET",
  path: "/health/ready",
  summary: "Check that workflows and triggers are loaded, and that tables and queues respond",
  tag: "Health",
  auth: "none",
  status: 200,
  response: z.object({
    status: z.literal("ready"),
    checks: z.object({ tables: z.literal("ok"), queues: z.literal("ok") }),
    collaboration: z
      .object({
        status: z.enum(["ok", "unavailable"]),
        advice: z.string().optional().describe("What is wrong with it, and what to do"),
        rooms: z.int().optional().describe("Open documents, if it is part of this process"),
        connections: z.int().optional(),
      })
      .optional()
      .describe("The collaboration server. Without it, documents are edited over HTTP"),
  }),
  run: (_input, deps: Deps) => checkReady(deps),
});

export const handler = toHandler(route, openDeps);
