import { commentOf, EMOJI, threadOf } from "./test-belongings.ts";
import type { Asked, Row } from "./test-matrix.ts";
import { askers, type Situation } from "./test-situations.ts";
import type { Player } from "./test-stage.ts";

const THREADS = "/documents/{id}/threads";
const THREAD = `${THREADS}/{thread}`;
const COMMENT = `${THREAD}/comments/{comment}`;

const pathOf = (id: string, player: Player) => ({
  thread: threadOf(id, player),
  comment: commentOf(id, player),
});
const own = { params: ({ id, asker }: Asked) => pathOf(id, asker), needs: ["threads"] } as const;
const others = { params: ({ id }: Asked) => pathOf(id, "guest"), needs: ["threads"] } as const;

const isManager = ({ asker }: Situation): boolean => asker === "administrator" || asker === "owner";
const isNamed = ({ asker }: Situation): boolean => asker !== "anonymous";
/** Whoever has no name owns nothing. */
const forNamed =
  (status: number): Row["status"] =>
  (situation, denied) =>
    isNamed(situation) ? status : denied;
const forManagers =
  (status: number): Row["status"] =>
  (situation, denied) =>
    isManager(situation) ? status : denied;
const forNobody: Row["status"] = (_, denied) => denied;

/** What the thread says that one may do with it and with its comment. */
const said = (
  abilities: { resolve: boolean; destroy: boolean },
  comment: { destroy: boolean; update: boolean },
) => [abilities.resolve, abilities.destroy, comment.destroy, comment.update];

/** Endpoints of talks about a document, each for one's own and for another's. Reference 1.12. */
export const THREAD_ROWS: readonly Row[] = [
  {
    ...{ endpoint: `GET ${THREADS}`, ability: "comment", status: 200, reads: true },
    says: ({ length }) => [length, askers.length + 1],
  },
  { endpoint: `POST ${THREADS}`, ability: "comment", status: 201, body: { body: 1 } },
  {
    ...{
      endpoint: `GET ${THREAD}`,
      about: "one's own",
      ability: "comment",
      status: 200,
      reads: true,
      ...own,
    },
    says: ({ abilities, comments }, { asker }) => [
      said(abilities, comments[0].abilities),
      Array<boolean>(4).fill(asker !== "anonymous"),
    ],
  },
  {
    ...{
      endpoint: `GET ${THREAD}`,
      about: "another's",
      ability: "comment",
      status: 200,
      reads: true,
      ...others,
    },
    says: ({ abilities, comments }, asked) => [
      said(abilities, comments[0].abilities),
      [...Array<boolean>(3).fill(isManager(asked)), false],
    ],
  },
  {
    ...{ endpoint: `GET ${THREAD}`, about: "of another document", ability: "comment", status: 404 },
    params: ({ shelf }: Asked) => pathOf(shelf, "guest"),
  },
  { endpoint: `DELETE ${THREAD}`, about: "one's own", ability: "comment", status: forNamed(204), ...own },
  {
    endpoint: `DELETE ${THREAD}`,
    about: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    endpoint: `POST ${THREAD}/resolve`,
    about: "one's own",
    ability: "comment",
    status: forNamed(204),
    ...own,
  },
  {
    ...{ endpoint: `POST ${THREAD}/resolve`, about: "another's", ability: "comment" },
    ...{ status: forManagers(204), ...others },
  },
  {
    ...{ endpoint: `POST ${THREAD}/unresolve`, about: "one's own", ability: "comment" },
    ...{ status: forNamed(204), ...own },
  },
  {
    ...{ endpoint: `POST ${THREAD}/unresolve`, about: "another's", ability: "comment" },
    ...{ status: forManagers(204), ...others },
  },
  {
    ...{ endpoint: `GET ${THREAD}/comments`, ability: "comment", status: 200, reads: true, ...others },
    says: ({ count }) => [count, 1],
  },
  {
    ...{ endpoint: `GET ${THREAD}/comments`, about: "an invalid page", ability: "comment", status: 404 },
    ...{ reads: true, query: { page: "x" }, ...others },
  },
  { endpoint: `POST ${THREAD}/comments`, ability: "comment", status: 201, body: { body: 1 }, ...others },
  { endpoint: `GET ${COMMENT}`, ability: "comment", status: 200, reads: true, ...others },
  ...["PUT", "PATCH"].flatMap((method): Row[] => [
    {
      ...{ endpoint: `${method} ${COMMENT}`, about: "one's own", ability: "comment", body: { body: 1 } },
      ...{ status: forNamed(200), ...own },
    },
    {
      ...{ endpoint: `${method} ${COMMENT}`, about: "another's", ability: "comment", body: { body: 1 } },
      ...{ status: forNobody, ...others },
    },
  ]),
  { endpoint: `DELETE ${COMMENT}`, about: "one's own", ability: "comment", status: forNamed(204), ...own },
  {
    endpoint: `DELETE ${COMMENT}`,
    about: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    ...{ endpoint: `POST ${COMMENT}/reactions`, ability: "comment", status: forNamed(201) },
    ...{ body: { emoji: EMOJI }, ...others },
  },
  {
    ...{ endpoint: `POST ${COMMENT}/reactions`, about: "again", ability: "comment", status: forNamed(400) },
    ...{ body: { emoji: EMOJI }, ...own },
  },
  {
    ...{ endpoint: `DELETE ${COMMENT}/reactions`, ability: "comment", status: forNamed(204) },
    ...{ body: { emoji: EMOJI }, ...own },
  },
  {
    ...{ endpoint: `DELETE ${COMMENT}/reactions`, about: "another's", ability: "comment" },
    ...{ status: forNamed(404), body: { emoji: EMOJI }, ...others },
  },
];
