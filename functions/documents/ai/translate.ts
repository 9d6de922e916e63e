import { type Deps, openDeps } from "#lib/app/aws.ts";
import { admitAiRequest, canUseAi } from "#lib/documents/ai/ai-access.ts";
import { translateBody, translateText } from "#lib/documents/ai/transform-text.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as transform } from "./transform.ts";

/** Reference 6, POST documents/{id}/ai-translate/. */
export const route = defineRoute({
  ...transform,
  operationId: "translateText",
  path: "/documents/{id}/ai-translate",
  summary: "Translate HTML with the language model",
  body: translateBody,
  before: async (asked, deps: Deps) => {
    await canUseAi("ai_translate")(asked, deps);
  },
  run: async ({ body, ...asked }, deps: Deps): Promise<FileResponse> => {
    await admitAiRequest(deps, "ai_translate", asked);
    return { type: "application/json; charset=utf-8", content: await translateText(deps, body) };
  },
});

export const handler = toHandler(route, openDeps);
