import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { ApiError } from "#lib/errors.ts";
import { API_PAGE_FILES } from "#lib/http/api-page.ts";
import { apiPageFiles } from "#lib/http/api-page-files.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirectTo } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";

const NAMES: ReadonlySet<string> = new Set(API_PAGE_FILES);

/** Emails, exports and imported pages link to documents as `/docs/<id>/`, as other clients of the document service do. */
const documentId = z.uuid();
/** Other programs link to `/docs/new/?title=…` for a new document. */
const NEW_DOCUMENT = "new";
/** Characters of a title that are passed on. */
const TITLE_MAX_LENGTH = 255;

export const route = defineRoute({
  service: rootService,
  operationId: "getApiPageFile",
  method: "GET",
  path: "/docs/{file}",
  summary: "Get a file of the API reference page, or follow a link to a document or to a new one",
  tag: "Gateway",
  auth: "none",
  includeInSchema: false,
  status: 200,
  params: z.object({ file: z.string() }),
  query: z.object({ title: z.string().optional() }),
  fileTypes: ["text/javascript", "text/css"],
  response: z.unknown(),
  run: ({ params, query, request }, _deps: Deps) => {
    if (documentId.safeParse(params.file).success) return redirectTo(`/d/${params.file}`);
    if (params.file === NEW_DOCUMENT) return redirectTo(newDocumentPath(query.title ?? ""));
    if (!NAMES.has(params.file)) throw new ApiError("not_found", "Not found");
    return apiPageFiles.respond(request, params.file);
  },
});

/** The page that asks before it creates a document. */
function newDocumentPath(title: string): string {
  const shown = title.slice(0, TITLE_MAX_LENGTH).toWellFormed();
  return shown === "" ? "/new-document" : `/new-document?${new URLSearchParams({ title: shown })}`;
}

export const handler = toHandler(route, openDeps);
