import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { chatBody, chatCompletion, handleChat, LLM_BODY_LIMIT_BYTES } from "#lib/llm/endpoints.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference: workflow 1.10. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "createChatCompletion",
  method: "POST",
  path: "/llm/v1/chat/completions",
  summary: "Complete a chat with a language model",
  tag: "Language models",
  auth: "required",
  body: chatBody,
  bodyLimitBytes: LLM_BODY_LIMIT_BYTES,
  status: 200,
  response: chatCompletion,
  errors: [413, 503],
  run: ({ body }, deps: Deps) => handleChat(deps, body),
});

export const handler = toHandler(route, openDeps);
