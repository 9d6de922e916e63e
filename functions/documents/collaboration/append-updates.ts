import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { appendUpdates, roomUpdatesBody } from "#lib/documents/live-requests/append-updates.ts";
import { readAwareness } from "#lib/documents/live-requests/publish-awareness.ts";
import { documentsService } from "#lib/documents/service.ts";
import { encodeAwareness, SERVER_AWARENESS_LIMITS } from "#lib/documents/updates/awareness-update.ts";
import { callerOf } from "#lib/http/caller.ts";
import { toHandler } from "#lib/http/handler.ts";
import { readWholeJson } from "#lib/http/large-json.ts";
import { defineRoute } from "#lib/http/route.ts";
import { updatesRequest } from "../updates/append.ts";

/** Longest id of a user, characters. */
const ID_MAX = 200;

/** For a separate collaboration server, which has checked the access of its client. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "appendRoomUpdates",
  method: "POST",
  path: "/collaboration/documents/{id}/updates",
  summary:
    "Append the updates of the user in the header X-User-Id, or of an anonymous one; for a separate collaboration server",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  ...updatesRequest,
  bodySchema: roomUpdatesBody,
  run: async ({ params, body, request }, deps: DocumentDeps) => {
    const sent = await readWholeJson(documentsService, roomUpdatesBody, body);
    const limits = SERVER_AWARENESS_LIMITS;
    // The server has set the names and colors of its clients.
    const states = sent.awareness === undefined ? undefined : readAwareness(sent.awareness, limits);
    const author = request.headers["x-user-id"]?.slice(0, ID_MAX);
    const by = author === undefined ? undefined : { id: author };
    const appended = await appendUpdates(deps, by, params.id, sent);
    if (states !== undefined) {
      const update = encodeAwareness(states);
      const owner = callerOf(request);
      await deps.awarenessHub.publish({ document: params.id, update, owner, limits });
    }
    return appended;
  },
});

export const handler = toHandler(route, openDocumentDeps);
