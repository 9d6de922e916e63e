import { EARLIER_VERSION, LATEST_VERSION, uploadOf } from "./test-document-records.ts";
import type { RequestContext, Row } from "./test-matrix.ts";

const VERSION = "/documents/{id}/versions/{versionId}";
const NO_VERSION = "01900000-0000-7000-8000-000000000003";

/** Endpoints of a document's content. Reference 1.5, 1.7. */
export const CONTENT_ROWS: readonly Row[] = [
  { endpoint: "GET /documents/{id}/content", ability: "content_retrieve", status: 200, isReadOnly: true },
  {
    endpoint: "PATCH /documents/{id}/content",
    ability: "content_patch",
    status: 204,
    body: { content: Buffer.from("other text").toString("base64") },
  },
  {
    endpoint: "PATCH /documents/{id}/content",
    variant: "no base64",
    ability: "content_patch",
    status: 400,
    body: { content: "?" },
  },
  {
    endpoint: "POST /documents/{id}/content-uploads",
    ability: "content_patch",
    status: 201,
    body: { bytes: 10 },
  },
  {
    endpoint: "POST /documents/{id}/content-uploads",
    variant: "no size",
    ability: "content_patch",
    status: 400,
    body: {},
  },
  {
    endpoint: "POST /documents/{id}/content-uploads/{uploadId}/finish",
    ability: "content_patch",
    params: ({ id, caller }: RequestContext) => ({ uploadId: uploadOf(id, caller) }),
    status: 204,
    records: ["upload"],
  },
  {
    endpoint: "POST /documents/{id}/content-uploads/{uploadId}/finish",
    variant: "another's",
    ability: "content_patch",
    status: 404,
    params: ({ id }: RequestContext) => ({ uploadId: uploadOf(id, "guest") }),
  },
  {
    endpoint: "GET /documents/{id}/formatted-content",
    ability: "formatted_content",
    status: 200,
    isReadOnly: true,
  },
  {
    endpoint: "GET /documents/{id}/versions",
    ability: "versions_list",
    status: 200,
    isReadOnly: true,
    // Not 401, unlike all other endpoints.
    statusBefore: ({ caller }) => (caller === "anonymous" ? 403 : undefined),
    expects: ({ versions }) => [
      versions.map(({ version_id }: { version_id: string }) => version_id),
      [EARLIER_VERSION],
    ],
  },
  {
    endpoint: "GET /documents/{id}/versions",
    variant: "too large a page",
    ability: "versions_list",
    status: 400,
    isReadOnly: true,
    query: { page_size: "51" },
    statusBefore: ({ caller }) => (caller === "anonymous" ? 403 : undefined),
  },
  {
    endpoint: `GET ${VERSION}`,
    ability: "versions_retrieve",
    status: 200,
    isReadOnly: true,
    params: { versionId: EARLIER_VERSION },
  },
  {
    endpoint: `GET ${VERSION}`,
    variant: "none",
    ability: "versions_retrieve",
    status: 404,
    params: { versionId: NO_VERSION },
  },
  {
    endpoint: `DELETE ${VERSION}`,
    ability: "versions_destroy",
    status: 204,
    records: ["content"],
    params: { versionId: EARLIER_VERSION },
  },
  {
    endpoint: `DELETE ${VERSION}`,
    variant: "the latest",
    ability: "versions_destroy",
    status: 400,
    params: { versionId: LATEST_VERSION },
  },
];
