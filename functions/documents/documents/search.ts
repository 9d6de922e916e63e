import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { highlightRecord } from "#lib/documents/full-text/highlights.ts";
import { searchQuery } from "#lib/documents/lists/query.ts";
import { searchDocuments } from "#lib/documents/lists/search.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

const found = documentRecord
  .extend({
    parent: documentRecord
      .nullable()
      .describe("Topmost ancestor that the caller may read; null if there is none"),
    highlights: z.array(highlightRecord).describe("Excerpts of what matches, at most three"),
  })
  .meta({ id: "FoundDocument" });

/** Seed: documents 4; reference 1.4, GET documents/search/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "searchDocuments",
  method: "GET",
  path: "/documents/search",
  summary: "Search documents by title, content, comments and names of attachments",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  query: z.object({ ...numberedQuery, ...searchQuery }),
  status: 200,
  response: numbered(found),
  errors: [403],
  run: async ({ query, request }, deps: Deps) => {
    const asked = { ...query, ...numberedPage(query) };
    const { count, found: results } = await searchDocuments(deps, await resolveViewer(deps, request), asked);
    return numberedResponse(request, query, {
      count,
      results: results.map(({ access, parent, highlights }) => ({
        ...toDocument(access),
        parent: parent === undefined ? null : toDocument(parent),
        highlights: [...highlights],
      })),
    });
  },
});

export const handler = toHandler(route, openDeps);
