import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { recordVerdict } from "#lib/documents/media/verdict.ts";
import { documentsService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

const KEY_MAX = 255;
const FINDING_MAX = 200;

/** For workflows, with the installation's token. Choice: infra/decisions/0119. */
export const route = defineRoute({
  service: documentsService,
  operationId: "recordAttachmentVerdict",
  method: "POST",
  path: "/documents/attachment-verdict",
  summary: "Say whether an attachment is safe; one that is not is deleted",
  tag: "Media",
  auth: "required",
  callers: ["owner"],
  throttle: "document",
  body: z.object({
    key: z.string().min(1).max(KEY_MAX),
    is_safe: z.boolean(),
    finding: z.string().trim().max(FINDING_MAX).optional().describe("What is dangerous in it"),
  }),
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ body: { key, is_safe, finding = "unsafe" } }, deps: Deps) => {
    try {
      await recordVerdict(deps, key, is_safe ? { isSafe: true } : { isSafe: false, finding });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
      throw new ApiError("bad_request", error.message, { body: { key: ["Attachment missing."] } });
    }
  },
});

export const handler = toHandler(route, openDeps);
