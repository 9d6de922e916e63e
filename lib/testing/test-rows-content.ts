import { EARLIER_VERSION, LATEST_VERSION, uploadOf } from "./test-belongings.ts";
import type { Asked, Row } from "./test-matrix.ts";

const VERSION = "/documents/{id}/versions/{versionId}";
const NO_VERSION = "01900000-0000-7000-8000-000000000003";

/** Endpoints of what is written in a document. Reference 1.5, 1.7. */
export const CONTENT_ROWS: readonly Row[] = [
  { endpoint: "GET /documents/{id}/content", ability: "content_retrieve", status: 200, reads: true },
  {
    ...{ endpoint: "PATCH /documents/{id}/content", ability: "content_patch", status: 204 },
    body: { content: Buffer.from("other text").toString("base64") },
  },
  {
    ...{ endpoint: "PATCH /documents/{id}/content", about: "no base64", ability: "content_patch" },
    ...{ status: 400, body: { content: "?" } },
  },
  {
    ...{ endpoint: "POST /documents/{id}/content-uploads", ability: "content_patch", status: 201 },
    body: { bytes: 10 },
  },
  {
    ...{ endpoint: "POST /documents/{id}/content-uploads", about: "no size", ability: "content_patch" },
    ...{ status: 400, body: {} },
  },
  {
    ...{ endpoint: "POST /documents/{id}/content-uploads/{uploadId}/finish", ability: "content_patch" },
    ...{ params: ({ id, asker }: Asked) => ({ uploadId: uploadOf(id, asker) }), status: 204 },
    needs: ["upload"],
  },
  {
    ...{ endpoint: "POST /documents/{id}/content-uploads/{uploadId}/finish", about: "another's" },
    ...{ ability: "content_patch", status: 404 },
    params: ({ id }: Asked) => ({ uploadId: uploadOf(id, "guest") }),
  },
  {
    ...{ endpoint: "GET /documents/{id}/formatted-content", ability: "formatted_content", status: 200 },
    reads: true,
  },
  {
    ...{ endpoint: "GET /documents/{id}/versions", ability: "versions_list", status: 200, reads: true },
    // Not 401, which everything else answers.
    first: ({ asker }) => (asker === "anonymous" ? 403 : undefined),
    says: ({ versions }) => [
      versions.map(({ version_id }: { version_id: string }) => version_id),
      [EARLIER_VERSION],
    ],
  },
  {
    ...{ endpoint: "GET /documents/{id}/versions", about: "too large a page", ability: "versions_list" },
    ...{ status: 400, reads: true, query: { page_size: "51" } },
    first: ({ asker }) => (asker === "anonymous" ? 403 : undefined),
  },
  {
    ...{ endpoint: `GET ${VERSION}`, ability: "versions_retrieve", status: 200, reads: true },
    params: { versionId: EARLIER_VERSION },
  },
  {
    ...{ endpoint: `GET ${VERSION}`, about: "none", ability: "versions_retrieve", status: 404 },
    params: { versionId: NO_VERSION },
  },
  {
    ...{ endpoint: `DELETE ${VERSION}`, ability: "versions_destroy", status: 204, needs: ["content"] },
    params: { versionId: EARLIER_VERSION },
  },
  {
    ...{ endpoint: `DELETE ${VERSION}`, about: "the latest", ability: "versions_destroy", status: 400 },
    params: { versionId: LATEST_VERSION },
  },
];
