import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { shownUser } from "#lib/collaboration/awareness.ts";
import { accessDenied } from "#lib/documents/authorization/document-access.ts";
import { documentParams } from "#lib/documents/fields.ts";
import {
  appendedUpdates,
  appendUpdates,
  UPDATES_BODY_MAX_BYTES,
  updatesBody,
} from "#lib/documents/live-requests/append-updates.ts";
import { authorizeLive } from "#lib/documents/live-requests/document-access.ts";
import { readAwareness, stampAwareness } from "#lib/documents/live-requests/publish-awareness.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toLightUser } from "#lib/documents/users/record.ts";
import { callerOf } from "#lib/http/caller.ts";
import { toHandler } from "#lib/http/handler.ts";
import { readWholeJson } from "#lib/http/large-json.ts";
import { defineRoute, type LargeBody } from "#lib/http/route.ts";

/** What the endpoints that append updates have in common. */
export const updatesRequest = {
  params: documentParams,
  body: z.custom<LargeBody>(),
  bodyKind: "large" as const,
  bodySchema: updatesBody,
  bodyLimitBytes: UPDATES_BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 200 as const,
  response: appendedUpdates,
  errors: [403, 409, 412, 413, 429],
};

/** Collaboration without WebSockets. Choice: infra/decisions/0115. */
export const route = defineRoute({
  service: documentsService,
  operationId: "appendUpdates",
  method: "POST",
  path: "/documents/{id}/updates",
  summary: "Merge Yjs updates into the content of a document; they are on disk before the response",
  tag: "Content",
  auth: "optional",
  throttle: "document_updates",
  ...updatesRequest,
  run: async ({ params, body, request }, deps: DocumentDeps) => {
    const viewer = await resolveViewer(deps, request);
    const { abilities } = await authorizeLive(deps, viewer, params.id, "content_retrieve");
    const sent = await readWholeJson(documentsService, updatesBody, body);
    // Readers have cursors, too.
    if (sent.updates !== undefined && !abilities.content_patch) throw accessDenied(viewer);
    const states = sent.awareness === undefined ? undefined : readAwareness(sent.awareness);
    const owner = callerOf(request);
    if (states !== undefined) deps.liveRequests.takeAwareness(params.id, owner);
    const appended = await appendUpdates(deps, viewer, params.id, sent);
    if (states !== undefined) {
      const user = viewer && { id: viewer.id, name: toLightUser(viewer).full_name };
      const update = stampAwareness(states, shownUser(user, owner));
      await deps.awarenessHub.publish({ document: params.id, update, owner });
    }
    return appended;
  },
});

export const handler = toHandler(route, openDocumentDeps);
