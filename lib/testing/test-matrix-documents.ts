import type { Row } from "./test-matrix.ts";
import { expectedAbilities, type Situation } from "./test-situations.ts";

const whereDeleted = ({ state }: Situation): number => (state === "deleted" ? 200 : 400);
/** Whether the caller has opened the document before. */
const whereSeen =
  (status: number) =>
  ({ caller }: Situation): number =>
    caller === "link-only" ? status : 400;

/** Endpoints of a document itself, and of its relation to the caller. Reference 1.2, 1.3, 1.6. */
export const DOCUMENT_ROWS: readonly Row[] = [
  {
    endpoint: "GET /documents/{id}",
    ability: "retrieve",
    status: 200,
    expects: ({ abilities }, asked) => [sorted(abilities), sorted(expectedAbilities(asked))],
  },
  { endpoint: "PUT /documents/{id}", ability: "update", status: 200, body: { title: "x" } },
  { endpoint: "PATCH /documents/{id}", ability: "partial_update", status: 200, body: { title: "x" } },
  { endpoint: "DELETE /documents/{id}", ability: "destroy", status: 204 },
  { endpoint: "POST /documents/{id}/restore", ability: "restore", status: whereDeleted },
  { endpoint: "GET /documents/{id}/children", ability: "children_list", status: 200, isReadOnly: true },
  {
    endpoint: "GET /documents/{id}/children",
    variant: "an invalid page",
    ability: "children_list",
    status: 404,
    isReadOnly: true,
    query: { page: "x" },
  },
  {
    endpoint: "POST /documents/{id}/children",
    ability: "children_create",
    status: 201,
    requiresUser: true,
    body: {},
  },
  {
    endpoint: "GET /documents/{id}/tree",
    ability: "tree",
    status: 200,
    isReadOnly: true,
    deniesDeleted: true,
  },
  {
    endpoint: "POST /documents/{id}/move",
    ability: "move",
    status: 200,
    body: ({ moveTarget }: { moveTarget: string }) => ({ target_document_id: moveTarget }),
  },
  {
    endpoint: "POST /documents/{id}/duplicate",
    ability: "duplicate",
    status: 201,
    requiresUser: true,
    body: { with_accesses: true, with_descendants: true },
  },
  {
    endpoint: "PUT /documents/{id}/link-configuration",
    ability: "link_configuration",
    status: 200,
    body: { link_reach: "public", link_role: "editor" },
  },
  { endpoint: "POST /documents/{id}/favorite", ability: "favorite", status: 201, requiresUser: true },
  {
    endpoint: "POST /documents/{id}/favorite",
    variant: "a favorite already",
    ability: "favorite",
    status: 200,
    requiresUser: true,
    records: ["marks"],
  },
  {
    endpoint: "DELETE /documents/{id}/favorite",
    ability: "favorite",
    status: 204,
    requiresUser: true,
    records: ["marks"],
  },
  {
    endpoint: "DELETE /documents/{id}/favorite",
    variant: "no favorite",
    ability: "favorite",
    status: 200,
    requiresUser: true,
  },
  { endpoint: "POST /documents/{id}/mask", ability: "mask", status: whereSeen(201), requiresUser: true },
  {
    endpoint: "POST /documents/{id}/mask",
    variant: "masked already",
    ability: "mask",
    requiresUser: true,
    status: whereSeen(200),
    records: ["marks"],
  },
  {
    endpoint: "DELETE /documents/{id}/mask",
    ability: "mask",
    status: whereSeen(204),
    requiresUser: true,
    records: ["marks"],
  },
  {
    endpoint: "DELETE /documents/{id}/mask",
    variant: "not masked",
    ability: "mask",
    status: whereSeen(200),
    requiresUser: true,
  },
  { endpoint: "POST /documents/{id}/leave", ability: "leave", status: 204, requiresUser: true },
];

const sorted = (abilities: Readonly<Record<string, unknown>>) =>
  Object.entries(abilities).toSorted(([one], [other]) => (one < other ? -1 : 1));
