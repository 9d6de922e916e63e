import type { Participant } from "./test-document-fixtures.ts";
import { commentOf, EMOJI, threadOf } from "./test-document-records.ts";
import type { RequestContext, Row } from "./test-matrix.ts";
import { CALLER_NAMES, type Situation } from "./test-situations.ts";

const THREADS = "/documents/{id}/threads";
const THREAD = `${THREADS}/{thread}`;
const COMMENT = `${THREAD}/comments/{comment}`;

const pathOf = (id: string, player: Participant) => ({
  thread: threadOf(id, player),
  comment: commentOf(id, player),
});
const own = {
  params: ({ id, caller }: RequestContext) => pathOf(id, caller),
  records: ["threads"],
} as const;
const others = { params: ({ id }: RequestContext) => pathOf(id, "guest"), records: ["threads"] } as const;

const isManager = ({ caller }: Situation): boolean => caller === "administrator" || caller === "owner";
const isNamed = ({ caller }: Situation): boolean => caller !== "anonymous";
/** Anonymous callers own nothing. */
const forNamed =
  (status: number): Row["status"] =>
  (situation, denied) =>
    isNamed(situation) ? status : denied;
const forManagers =
  (status: number): Row["status"] =>
  (situation, denied) =>
    isManager(situation) ? status : denied;
const forNobody: Row["status"] = (_, denied) => denied;

/** The abilities on a thread and its comment in the response. */
const abilitiesOfThread = (
  abilities: { resolve: boolean; destroy: boolean },
  comment: { destroy: boolean; update: boolean },
) => [abilities.resolve, abilities.destroy, comment.destroy, comment.update];

/** Endpoints of threads and comments, for the caller's own and for another user's. Reference 1.12. */
export const THREAD_ROWS: readonly Row[] = [
  {
    endpoint: `GET ${THREADS}`,
    ability: "comment",
    status: 200,
    isReadOnly: true,
    expects: ({ length }) => [length, CALLER_NAMES.length + 1],
  },
  { endpoint: `POST ${THREADS}`, ability: "comment", status: 201, body: { body: 1 } },
  {
    endpoint: `GET ${THREAD}`,
    variant: "one's own",
    ability: "comment",
    status: 200,
    isReadOnly: true,
    ...own,
    expects: ({ abilities, comments }, { caller }) => [
      abilitiesOfThread(abilities, comments[0].abilities),
      Array<boolean>(4).fill(caller !== "anonymous"),
    ],
  },
  {
    endpoint: `GET ${THREAD}`,
    variant: "another's",
    ability: "comment",
    status: 200,
    isReadOnly: true,
    ...others,
    expects: ({ abilities, comments }, asked) => [
      abilitiesOfThread(abilities, comments[0].abilities),
      [...Array<boolean>(3).fill(isManager(asked)), false],
    ],
  },
  {
    endpoint: `GET ${THREAD}`,
    variant: "of another document",
    ability: "comment",
    status: 404,
    params: ({ moveTarget }: RequestContext) => pathOf(moveTarget, "guest"),
  },
  { endpoint: `DELETE ${THREAD}`, variant: "one's own", ability: "comment", status: forNamed(204), ...own },
  {
    endpoint: `DELETE ${THREAD}`,
    variant: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    endpoint: `POST ${THREAD}/resolve`,
    variant: "one's own",
    ability: "comment",
    status: forNamed(204),
    ...own,
  },
  {
    endpoint: `POST ${THREAD}/resolve`,
    variant: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    endpoint: `POST ${THREAD}/unresolve`,
    variant: "one's own",
    ability: "comment",
    status: forNamed(204),
    ...own,
  },
  {
    endpoint: `POST ${THREAD}/unresolve`,
    variant: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    endpoint: `GET ${THREAD}/comments`,
    ability: "comment",
    status: 200,
    isReadOnly: true,
    ...others,
    expects: ({ count }) => [count, 1],
  },
  {
    endpoint: `GET ${THREAD}/comments`,
    variant: "an invalid page",
    ability: "comment",
    status: 404,
    isReadOnly: true,
    query: { page: "x" },
    ...others,
  },
  { endpoint: `POST ${THREAD}/comments`, ability: "comment", status: 201, body: { body: 1 }, ...others },
  { endpoint: `GET ${COMMENT}`, ability: "comment", status: 200, isReadOnly: true, ...others },
  ...["PUT", "PATCH"].flatMap((method): Row[] => [
    {
      endpoint: `${method} ${COMMENT}`,
      variant: "one's own",
      ability: "comment",
      body: { body: 1 },
      status: forNamed(200),
      ...own,
    },
    {
      endpoint: `${method} ${COMMENT}`,
      variant: "another's",
      ability: "comment",
      body: { body: 1 },
      status: forNobody,
      ...others,
    },
  ]),
  { endpoint: `DELETE ${COMMENT}`, variant: "one's own", ability: "comment", status: forNamed(204), ...own },
  {
    endpoint: `DELETE ${COMMENT}`,
    variant: "another's",
    ability: "comment",
    status: forManagers(204),
    ...others,
  },
  {
    endpoint: `POST ${COMMENT}/reactions`,
    ability: "comment",
    status: forNamed(201),
    body: { emoji: EMOJI },
    ...others,
  },
  {
    endpoint: `POST ${COMMENT}/reactions`,
    variant: "again",
    ability: "comment",
    status: forNamed(400),
    body: { emoji: EMOJI },
    ...own,
  },
  {
    endpoint: `DELETE ${COMMENT}/reactions`,
    ability: "comment",
    status: forNamed(204),
    body: { emoji: EMOJI },
    ...own,
  },
  {
    endpoint: `DELETE ${COMMENT}/reactions`,
    variant: "another's",
    ability: "comment",
    status: forNamed(404),
    body: { emoji: EMOJI },
    ...others,
  },
];
