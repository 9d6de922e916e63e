import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { permissionDenied } from "#lib/documents/access/errors.ts";
import { CONTENT_BODY_MAX_BYTES } from "#lib/documents/content/body.ts";
import { resourceServerAuthenticator } from "#lib/documents/login/resource-server.ts";
import { externalService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { type Dispatch, toDispatcher } from "#lib/http/dispatcher.ts";
import { type Handler, toHandler } from "#lib/http/handler.ts";
import { joinBody, type ProxyEvent } from "#lib/http/request.ts";
import { BODY_LIMIT_BYTES, defineRoute, isLargeBody, type LargeBody, type Route } from "#lib/http/route.ts";
import type { ExternalAction, ExternalResource } from "#lib/settings/external-api.ts";
import { route as createAccess } from "../accesses/create.ts";
import { route as deleteAccess } from "../accesses/delete.ts";
import { route as getAccess } from "../accesses/get.ts";
import { route as listAccesses } from "../accesses/list.ts";
import { route as replaceAccess } from "../accesses/replace.ts";
import { route as updateAccess } from "../accesses/update.ts";
import { route as getFormattedContent } from "../content/formatted.ts";
import { route as getContent } from "../content/get.ts";
import { route as updateContent } from "../content/patch.ts";
import { route as configureLink } from "../documents/configure-link.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as createChild } from "../documents/create-child.ts";
import { route as deleteDocument } from "../documents/delete.ts";
import { route as duplicateDocument } from "../documents/duplicate.ts";
import { route as favoriteDocument } from "../documents/favorite.ts";
import { route as getDocument } from "../documents/get.ts";
import { route as listDocuments } from "../documents/list.ts";
import { route as listAllDocuments } from "../documents/list-all.ts";
import { route as listChildren } from "../documents/list-children.ts";
import { route as listFavorites } from "../documents/list-favorites.ts";
import { route as listTrash } from "../documents/list-trash.ts";
import { route as moveDocument } from "../documents/move.ts";
import { route as replaceDocument } from "../documents/replace.ts";
import { route as restoreDocument } from "../documents/restore.ts";
import { route as searchDocuments } from "../documents/search.ts";
import { route as getTree } from "../documents/tree.ts";
import { route as unfavoriteDocument } from "../documents/unfavorite.ts";
import { route as updateDocument } from "../documents/update.ts";
import { route as createInvitation } from "../invitations/create.ts";
import { route as deleteInvitation } from "../invitations/delete.ts";
import { route as getInvitation } from "../invitations/get.ts";
import { route as listInvitations } from "../invitations/list.ts";
import { route as replaceInvitation } from "../invitations/replace.ts";
import { route as updateInvitation } from "../invitations/update.ts";
import { route as listUsers } from "../users/list.ts";
import { route as getMe } from "../users/me.ts";
import { route as deleteVersion } from "../versions/delete.ts";
import { route as getVersion } from "../versions/get.ts";
import { route as listVersions } from "../versions/list.ts";
import { route as restoreVersion } from "../versions/restore.ts";

// biome-ignore lint/suspicious/noExplicitAny: the routes have different inputs
type AnyRoute = Route<any, any, any, any, DocumentDeps>;

/** The routes of each action: the same as those of the API. Reference 1.16. */
const ACTIONS: {
  readonly [Resource in ExternalResource]: Readonly<Record<ExternalAction<Resource>, readonly AnyRoute[]>>;
} = {
  documents: {
    list: [listDocuments],
    retrieve: [getDocument],
    create: [createDocument],
    update: [replaceDocument],
    partial_update: [updateDocument],
    destroy: [deleteDocument],
    children: [listChildren, createChild],
    tree: [getTree],
    search: [searchDocuments],
    all: [listAllDocuments],
    trashbin: [listTrash],
    favorite_list: [listFavorites],
    favorite: [favoriteDocument, unfavoriteDocument],
    move: [moveDocument],
    restore: [restoreDocument],
    duplicate: [duplicateDocument],
    link_configuration: [configureLink],
    content: [getContent, updateContent],
    formatted_content: [getFormattedContent],
    versions_list: [listVersions],
    versions_detail: [getVersion, deleteVersion],
    versions_restore: [restoreVersion],
  },
  document_access: {
    list: [listAccesses],
    retrieve: [getAccess],
    create: [createAccess],
    update: [replaceAccess],
    partial_update: [updateAccess],
    destroy: [deleteAccess],
  },
  document_invitation: {
    list: [listInvitations],
    retrieve: [getInvitation],
    create: [createInvitation],
    update: [replaceInvitation],
    partial_update: [updateInvitation],
    destroy: [deleteInvitation],
  },
  users: { get_me: [getMe], list: [listUsers] },
};

/** Requests that no other route takes. Their bodies are not read. */
const refused = defineRoute({
  service: externalService,
  operationId: "externalApi",
  method: "ANY",
  path: "/{proxy+}",
  summary: "The API for other services, which send access tokens of the OpenID Connect provider",
  tag: "External API",
  auth: "required",
  status: 200,
  response: z.never(),
  run: ({ request }, _deps: DocumentDeps): never => {
    const path = request.path.slice(externalService.basePath.length);
    const allowed = ENDPOINTS.filter((each) => each.match(path) !== undefined).map(({ method }) => method);
    if (allowed.length === 0) throw new ApiError("not_found", "Not found.");
    throw new ApiError("method_not_allowed", `Method "${request.method}" not allowed.`, { allowed });
  },
});

/** Every path of the external API, with the largest body and the longest time of its routes. */
export const route = defineRoute({
  ...refused,
  body: z.custom<LargeBody>(),
  bodyKind: "large",
  bodyLimitBytes: CONTENT_BODY_MAX_BYTES,
  fileTypes: ["application/json", "text/plain"],
  memoryMb: 1024,
  timeoutSeconds: 60,
});

/** Without authentication: the external API does not exist. */
const disabled = toHandler({ ...refused, auth: "none", run: notFound }, openDocumentDeps);
const forbidden = toHandler({ ...refused, run: forbid }, openDocumentDeps);
const other = toHandler(refused, openDocumentDeps);

function notFound(): never {
  throw new ApiError("not_found", "Not found.");
}
function forbid(): never {
  throw permissionDenied();
}

interface Endpoint {
  readonly method: string;
  /** As in EXTERNAL_API: `resource.action`. */
  readonly action: string;
  readonly handler: Handler;
  /** Bytes of a body that it does not read in chunks. */
  readonly wholeBodyMax: number | undefined;
  /** The parameters of a path below the base path, or undefined. */
  match(path: string): Readonly<Record<string, string>> | undefined;
}

/** More specific paths first. */
const ENDPOINTS: readonly Endpoint[] = Object.entries(ACTIONS)
  .flatMap(([resource, actions]) =>
    Object.entries<readonly AnyRoute[]>(actions).flatMap(([action, routes]) =>
      routes.map((each) => ({ path: each.path, endpoint: toEndpoint(`${resource}.${action}`, each) })),
    ),
  )
  .toSorted((one, another) => one.path.split("{").length - another.path.split("{").length)
  .map(({ endpoint }) => endpoint);

function toEndpoint(action: string, each: AnyRoute): Endpoint {
  const pattern = new RegExp(`^${each.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`);
  return {
    method: each.method,
    action,
    // There are no anonymous callers.
    handler: toHandler({ ...each, service: externalService, auth: "required" }, openDocumentDeps),
    wholeBodyMax: isLargeBody(each) ? undefined : (each.bodyLimitBytes ?? BODY_LIMIT_BYTES),
    match: (path) => {
      const found = pattern.exec(path);
      return found === null ? undefined : { ...found.groups };
    },
  };
}

/** Dependencies that authenticate access tokens only; one for each of the process's. */
const externalDeps = new WeakMap<DocumentDeps, DocumentDeps>();

function toExternalDeps(deps: DocumentDeps): DocumentDeps {
  const { resourceServer } = deps.documents;
  if (resourceServer === undefined) return deps;
  const known = externalDeps.get(deps);
  if (known !== undefined) return known;
  const { sessions: _, ...others } = deps;
  const external = { ...others, auth: resourceServerAuthenticator(deps, resourceServer) } as DocumentDeps;
  externalDeps.set(deps, external);
  return external;
}

/** Returns the handler of a request, and passes it the parameters of the path and the body in the event. */
async function select(event: ProxyEvent, { documents }: DocumentDeps): Promise<Handler> {
  if (documents.resourceServer === undefined) return disabled;
  const path = event.path.slice(
    event.path.indexOf(externalService.basePath) + externalService.basePath.length,
  );
  for (const { method, action, handler, wholeBodyMax, match } of ENDPOINTS) {
    const params = method === event.httpMethod ? match(path) : undefined;
    if (params === undefined) continue;
    if (!documents.resourceServer.actions.has(action)) return forbidden;
    Object.assign(event, { pathParameters: { ...event.pathParameters, ...params } });
    if (wholeBodyMax !== undefined) await joinBody(event, wholeBodyMax);
    return handler;
  }
  return other;
}

const dispatch: Dispatch = async (event, context) => {
  const opened = context?.weft === undefined ? await openDocumentDeps() : (context.weft as DocumentDeps);
  const weft = toExternalDeps(opened);
  return { handler: await select(event, weft), context: { ...context, weft } };
};

export const handler = toDispatcher(dispatch);
