import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { readLiveAccess } from "#lib/documents/live-requests/document-access.ts";
import { describeReplaced, openLogOf } from "#lib/documents/live-requests/generation.ts";
import type { CheckAccess } from "#lib/documents/live-requests/live-access.ts";
import { pollResponse } from "#lib/documents/live-requests/long-poll.ts";
import { clientUpdatesQuery } from "#lib/documents/live-requests/read-updates.ts";
import { parseEventId } from "#lib/documents/live-requests/server-sent-events.ts";
import { openUpdateStream } from "#lib/documents/live-requests/update-stream.ts";
import { documentsService } from "#lib/documents/service.ts";
import { authenticateRequest } from "#lib/http/auth.ts";
import { callerOf } from "#lib/http/caller.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

const EVENT_STREAM = "text/event-stream";
/** Longer than a stream, whose client then connects again. */
const TIMEOUT_SECONDS = 300;

/** Collaboration without WebSockets. Choice: infra/decisions/0115. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getUpdates",
  method: "GET",
  path: "/documents/{id}/updates",
  summary:
    "Get the Yjs updates that a client does not have, as JSON, by long polling or as server-sent events",
  tag: "Content",
  auth: "optional",
  throttle: "document_updates",
  params: documentParams,
  query: clientUpdatesQuery,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/json", EVENT_STREAM],
  errors: [403, 412],
  timeoutSeconds: TIMEOUT_SECONDS,
  memoryMb: 1024,
  before: async ({ params, request }, deps: DocumentDeps) => {
    await readLiveAccess(deps, request, params.id);
  },
  run: async ({ params: { id }, query, request }, deps: DocumentDeps): Promise<FileResponse> => {
    const access = await readLiveAccess(deps, request, id);
    const check: CheckAccess = async () => {
      const receivedAt = performance.now();
      const principal = await authenticateRequest(route, request, deps);
      return readLiveAccess(deps, { principal, receivedAt }, id);
    };
    const { state_vector: stateVector, awareness_tag: awarenessTag, wait = 0 } = query;
    const caller = callerOf(request);
    if (request.headers["accept"]?.includes(EVENT_STREAM) !== true) {
      const { generation, position, content_patch: known } = query;
      return pollResponse(deps, {
        document: id,
        caller,
        generation,
        position,
        stateVector,
        waitMs: wait * 1000,
        awarenessTag,
        watched: { access, check, knownToEdit: known === undefined ? undefined : known === "true" },
      });
    }
    const { generation, position } = parseEventId(request.headers["last-event-id"]) ?? query;
    const seat = deps.liveRequests.take(id, caller);
    try {
      const log = await openLogOf(deps, id, generation);
      const asked = { log, seat, access, check, position, stateVector };
      const content = await openUpdateStream(deps, asked).catch(async (error: unknown) => {
        throw await describeReplaced(deps, log, error);
      });
      return { type: `${EVENT_STREAM}; charset=utf-8`, headers: { "x-accel-buffering": "no" }, content };
    } catch (error) {
      seat.release();
      throw error;
    }
  },
});

export const handler = toHandler(route, openDocumentDeps);
