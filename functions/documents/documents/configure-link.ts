import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { LINK_REACHES, LINK_ROLES } from "#lib/documents/access/links.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { configureLink, linkBody } from "#lib/documents/records/link.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.6, PUT documents/{id}/link-configuration/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "configureDocumentLink",
  method: "PUT",
  path: "/documents/{id}/link-configuration",
  summary: "Set the link reach and link role of a document",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: linkBody,
  status: 200,
  response: z.object({ link_reach: z.enum(LINK_REACHES), link_role: z.enum(LINK_ROLES) }),
  errors: [403],
  before: can("link_configuration"),
  run: async ({ params, body, request }, deps: Deps) => {
    const link = await configureLink(deps, await resolveViewer(deps, request), params.id, body);
    await deps.liveConnections.accessChanged(params.id);
    return link;
  },
});

export const handler = toHandler(route, openDeps);
