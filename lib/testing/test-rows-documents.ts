import type { Row } from "./test-matrix.ts";
import { abilitiesIn, type Situation } from "./test-situations.ts";

const whereDeleted = ({ state }: Situation): number => (state === "deleted" ? 200 : 400);
/** Who came by the link has seen the document before. */
const whereSeen =
  (status: number) =>
  ({ asker }: Situation): number =>
    asker === "link-only" ? status : 400;

/** Endpoints of a document itself, and what it is to who asks. Reference 1.2, 1.3, 1.6. */
export const DOCUMENT_ROWS: readonly Row[] = [
  {
    ...{ endpoint: "GET /documents/{id}", ability: "retrieve", status: 200 },
    says: ({ abilities }, asked) => [sorted(abilities), sorted(abilitiesIn(asked))],
  },
  { endpoint: "PUT /documents/{id}", ability: "update", status: 200, body: { title: "x" } },
  { endpoint: "PATCH /documents/{id}", ability: "partial_update", status: 200, body: { title: "x" } },
  { endpoint: "DELETE /documents/{id}", ability: "destroy", status: 204 },
  { endpoint: "POST /documents/{id}/restore", ability: "restore", status: whereDeleted },
  { endpoint: "GET /documents/{id}/children", ability: "children_list", status: 200, reads: true },
  {
    ...{ endpoint: "GET /documents/{id}/children", about: "an invalid page", ability: "children_list" },
    ...{ status: 404, reads: true, query: { page: "x" } },
  },
  {
    ...{ endpoint: "POST /documents/{id}/children", ability: "children_create", status: 201 },
    ...{ isNamed: true, body: {} },
  },
  { endpoint: "GET /documents/{id}/tree", ability: "tree", status: 200, reads: true, deniesDeleted: true },
  {
    ...{ endpoint: "POST /documents/{id}/move", ability: "move", status: 200 },
    body: ({ shelf }: { shelf: string }) => ({ target_document_id: shelf }),
  },
  {
    ...{ endpoint: "POST /documents/{id}/duplicate", ability: "duplicate", status: 201, isNamed: true },
    body: { with_accesses: true, with_descendants: true },
  },
  {
    ...{ endpoint: "PUT /documents/{id}/link-configuration", ability: "link_configuration", status: 200 },
    body: { link_reach: "public", link_role: "editor" },
  },
  { endpoint: "POST /documents/{id}/favorite", ability: "favorite", status: 201, isNamed: true },
  {
    ...{ endpoint: "POST /documents/{id}/favorite", about: "a favorite already", ability: "favorite" },
    ...{ status: 200, isNamed: true, needs: ["marks"] },
  },
  {
    ...{ endpoint: "DELETE /documents/{id}/favorite", ability: "favorite", status: 204 },
    ...{ isNamed: true, needs: ["marks"] },
  },
  {
    ...{ endpoint: "DELETE /documents/{id}/favorite", about: "no favorite", ability: "favorite" },
    ...{ status: 200, isNamed: true },
  },
  { endpoint: "POST /documents/{id}/mask", ability: "mask", status: whereSeen(201), isNamed: true },
  {
    ...{ endpoint: "POST /documents/{id}/mask", about: "masked already", ability: "mask", isNamed: true },
    ...{ status: whereSeen(200), needs: ["marks"] },
  },
  {
    ...{ endpoint: "DELETE /documents/{id}/mask", ability: "mask", status: whereSeen(204) },
    ...{ isNamed: true, needs: ["marks"] },
  },
  {
    ...{ endpoint: "DELETE /documents/{id}/mask", about: "not masked", ability: "mask" },
    ...{ status: whereSeen(200), isNamed: true },
  },
  { endpoint: "POST /documents/{id}/leave", ability: "leave", status: 204, isNamed: true },
];

const sorted = (abilities: Readonly<Record<string, unknown>>) =>
  Object.entries(abilities).toSorted(([one], [other]) => (one < other ? -1 : 1));
