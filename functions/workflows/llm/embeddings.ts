import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { embeddings, embeddingsBody, handleEmbeddings, LLM_BODY_LIMIT_BYTES } from "#lib/llm/endpoints.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference: workflow 1.10. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "createEmbeddings",
  method: "POST",
  path: "/llm/v1/embeddings",
  summary: "Create embeddings of texts",
  tag: "Language models",
  auth: "required",
  body: embeddingsBody,
  bodyLimitBytes: LLM_BODY_LIMIT_BYTES,
  status: 200,
  response: embeddings,
  errors: [413, 503],
  run: ({ body }, deps: Deps) => handleEmbeddings(deps, body),
});

export const handler = toHandler(route, openDeps);
