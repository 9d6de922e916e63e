import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import {
  CONVERTED_TYPES,
  CONVERTIBLE_TYPES,
  convertContent,
  requireConversionKey,
} from "#lib/documents/imports/conversion-request.ts";
import { conversionService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { type BytesBody, defineRoute } from "#lib/http/route.ts";

const BODY_MAX_BYTES = 20 * 1024 * 1024;

/** Reference 5.1, POST /api/convert/. Choice: infra/decisions/0125. */
export const route = defineRoute({
  service: conversionService,
  operationId: "convertContent",
  method: "POST",
  path: "/convert",
  summary: "Convert content for another document service, with Y_PROVIDER_API_KEY",
  tag: "Content",
  auth: "none",
  body: z.custom<BytesBody>(),
  bodyKind: "bytes",
  bodyTypes: CONVERTIBLE_TYPES,
  bodyLimitBytes: BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: CONVERTED_TYPES,
  errors: [401, 406, 415],
  run: async ({ body, request }, deps: Deps): Promise<FileResponse> => {
    requireConversionKey(deps.documents.yProviderApiKey, request.headers["authorization"]);
    const { contentType } = body;
    const converted = await convertContent(deps, body.bytes, {
      contentType,
      accept: request.headers["accept"],
    });
    if ("content" in converted) return { type: converted.type, content: once(converted.content) };
    const { status, error } = converted;
    return { status, type: "application/json", content: once(JSON.stringify({ error })) };
  },
});

async function* once(content: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
  yield content;
}

export const handler = toHandler(route, openDeps);
