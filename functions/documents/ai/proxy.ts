import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { canUseAi } from "#lib/documents/ai/ai-access.ts";
import {
  ASSISTANT_BODY_MAX_BYTES,
  assistantBody,
  continueConversation,
  readConversation,
} from "#lib/documents/ai/editor-assistant.ts";
import { AI_TIMEOUT_SECONDS } from "#lib/documents/ai/model-response.ts";
import { countAiRequest } from "#lib/documents/ai/usage-limits.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

const EVENT_STREAM = "text/event-stream";

/** Reference 6, POST documents/{id}/ai-proxy/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "proxyAi",
  method: "POST",
  path: "/documents/{id}/ai-proxy",
  summary: "Continue a conversation of the editor's AI assistant, as AI SDK's UI message stream",
  tag: "AI",
  auth: "optional",
  params: documentParams,
  body: assistantBody,
  bodyLimitBytes: ASSISTANT_BODY_MAX_BYTES,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: [EVENT_STREAM],
  errors: [403, 429, 502, 503, 504],
  timeoutSeconds: AI_TIMEOUT_SECONDS,
  before: async (asked, deps: Deps) => {
    await canUseAi("ai_proxy")(asked, deps);
  },
  run: async ({ body, ...asked }, deps: Deps): Promise<FileResponse> => {
    const viewer = await canUseAi("ai_proxy")(asked, deps);
    const conversation = await readConversation(body);
    await countAiRequest(deps, viewer, asked.params.id, asked.request);
    return {
      type: `${EVENT_STREAM}; charset=utf-8`,
      headers: {
        // Of the current protocol, and of the reference's.
        "x-vercel-ai-ui-message-stream": "v1",
        "x-vercel-ai-data-stream": "v1",
        "x-accel-buffering": "no",
      },
      content: continueConversation(deps, conversation),
    };
  },
});

export const handler = toHandler(route, openDeps);
