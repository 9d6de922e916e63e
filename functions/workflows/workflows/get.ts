import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { wholeNumber } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { findWorkflow } from "#lib/workflows/store/find-workflow.ts";
import { loadRevision } from "#lib/workflows/store/store.ts";
import { toWorkflowRecord, workflowRecord } from "#lib/workflows/uploads/upload.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getWorkflow",
  method: "GET",
  path: "/workflows/{name}",
  summary: "Get a workflow with its text and definition, by its name or its file's name",
  tag: "Workflows",
  auth: "required",
  params: z.object({ name: z.string() }),
  query: z.object({
    revision: wholeNumber(1).optional().meta({
      description: "Text and definition of this revision; the newest by default",
      type: "integer",
      minimum: 1,
    }),
  }),
  status: 200,
  response: z.object({
    data: workflowRecord
      .extend({ yaml: z.string(), definition: z.looseObject({}) })
      .meta({ id: "WorkflowDetail" }),
  }),
  run: async ({ params, query }, deps: Deps) => {
    const head = await findWorkflow(deps, params.name);
    const { definition, yaml } = await loadRevision(deps, head.name, query.revision ?? head.revision);
    return { data: { ...toWorkflowRecord(head), yaml, definition: { ...definition } } };
  },
});

export const handler = toHandler(route, openDeps);
