import { type Deps, openDeps } from "#lib/app/aws.ts";
import { admitAiRequest, canUseAi } from "#lib/documents/ai/ai-access.ts";
import { AI_TIMEOUT_SECONDS } from "#lib/documents/ai/model-response.ts";
import {
  answerRecord,
  TEXT_BODY_MAX_BYTES,
  translateBody,
  translateText,
} from "#lib/documents/ai/transform-text.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 6, POST documents/{id}/ai-translate/. Streamed, because a model may take longer than API Gateway waits. */
export const route = defineRoute({
  service: documentsService,
  operationId: "translateText",
  method: "POST",
  path: "/documents/{id}/ai-translate",
  summary: "Translate HTML with the language model",
  tag: "AI",
  auth: "optional",
  params: documentParams,
  body: translateBody,
  bodyLimitBytes: TEXT_BODY_MAX_BYTES,
  status: 200,
  response: answerRecord,
  fileTypes: ["application/json"],
  errors: [403, 429, 502, 503, 504],
  timeoutSeconds: AI_TIMEOUT_SECONDS,
  before: async (asked, deps: Deps) => {
    await canUseAi("ai_translate")(asked, deps);
  },
  run: async ({ body, ...asked }, deps: Deps): Promise<FileResponse> => {
    await admitAiRequest(deps, "ai_translate", asked);
    return { type: "application/json; charset=utf-8", content: translateText(deps, body) };
  },
});

export const handler = toHandler(route, openDeps);
