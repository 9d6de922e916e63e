import * as z from "zod";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { DocumentAccess } from "../authorization/document-access.ts";
import { commentsOf, commentsTable, type StoredComment, type StoredThread } from "../tables/threads.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import { lightUserRecord, toLightUser } from "../users/record.ts";
import { commentAbilities, threadAbilities } from "./abilities.ts";

const may = z.boolean();

/** A comment as returned by the API. Reference 1.12. */
export const commentRecord = z
  .object({
    id: z.string(),
    user: lightUserRecord.nullable().describe("Null if the author is anonymous"),
    body: z.unknown().describe("The JSON value as sent"),
    created_at: z.string(),
    updated_at: z.string(),
    reactions: z.array(
      z.object({
        id: z.string(),
        emoji: z.string(),
        created_at: z.string(),
        users: z.array(lightUserRecord),
      }),
    ),
    abilities: z.object({
      destroy: may,
      update: may,
      partial_update: may,
      reactions: may,
      retrieve: may,
    }),
  })
  .meta({ id: "Comment" });

/** A thread with its comments, as returned by the API. Reference 1.12. */
export const threadRecord = z
  .object({
    id: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    creator: lightUserRecord.nullable().describe("Null if the creator is anonymous"),
    abilities: z.object({
      destroy: may,
      update: may,
      partial_update: may,
      resolve: may,
      unresolve: may,
      retrieve: may,
    }),
    comments: z.array(commentRecord),
    resolved: z.boolean(),
    resolved_at: z.string().nullable(),
    resolved_by: z.string().nullable().describe("Id of a user"),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Thread" });

export type CommentRecord = z.infer<typeof commentRecord>;
export type ThreadRecord = z.infer<typeof threadRecord>;

type UsersById = ReadonlyMap<string, StoredUser>;

/** Reads all users named in threads and comments, in one read. */
async function readUsers(
  { tables }: Pick<Ports, "tables">,
  threads: readonly StoredThread[],
  comments: readonly StoredComment[],
): Promise<UsersById> {
  const ids = new Set(
    [
      ...threads.map(({ creator }) => creator),
      ...comments.flatMap(({ user, reactions }) => [user, ...reactions.flatMap(({ users }) => users)]),
    ].filter((id) => id !== null),
  );
  if (ids.size === 0) return new Map();
  const users = await tables.batchGet(usersTable, [...ids].map(userKey));
  return new Map(users.map((user) => [user.id, user]));
}

const nameOf = (people: UsersById, id: string | null) => {
  const user = id === null ? undefined : people.get(id);
  return user === undefined ? null : toLightUser(user);
};

function toCommentRecord(access: DocumentAccess, people: UsersById, comment: StoredComment): CommentRecord {
  const { id, user, body, created_at, updated_at, reactions } = comment;
  return {
    id,
    user: nameOf(people, user),
    body: JSON.parse(body) as unknown,
    created_at,
    updated_at,
    reactions: reactions.map(({ users, ...reaction }) => ({
      ...reaction,
      users: users.map((one) => nameOf(people, one)).filter((name) => name !== null),
    })),
    abilities: { ...commentAbilities(access, comment) },
  };
}

/** Converts comments for a viewer. */
export async function toComments(
  deps: Pick<Ports, "tables">,
  access: DocumentAccess,
  comments: readonly StoredComment[],
): Promise<CommentRecord[]> {
  const people = await readUsers(deps, [], comments);
  return comments.map((comment) => toCommentRecord(access, people, comment));
}

export async function toComment(
  deps: Pick<Ports, "tables">,
  access: DocumentAccess,
  comment: StoredComment,
): Promise<CommentRecord> {
  return toCommentRecord(access, await readUsers(deps, [], [comment]), comment);
}

/** Converts threads for a viewer. `comments` may include those of other threads. */
export async function toThreads(
  deps: Pick<Ports, "tables">,
  access: DocumentAccess,
  threads: readonly StoredThread[],
  comments: readonly StoredComment[],
): Promise<ThreadRecord[]> {
  const people = await readUsers(deps, threads, comments);
  const byThread = Map.groupBy(comments, ({ thread }) => thread);
  return threads.map((thread) => {
    const { id, created_at, updated_at, creator, resolved, resolved_at, resolved_by } = thread;
    const own = byThread.get(id) ?? [];
    return {
      id,
      created_at,
      updated_at,
      creator: nameOf(people, creator),
      abilities: { ...threadAbilities(access, thread) },
      comments: own.map((comment) => toCommentRecord(access, people, comment)),
      resolved,
      resolved_at,
      resolved_by,
      metadata: {},
    };
  });
}

/** Reads the comments of a thread, oldest first. */
export const readComments = (deps: Pick<Ports, "tables">, document: string, thread: string) =>
  readAll(deps, commentsTable, { pk: document, sk: { beginsWith: commentsOf(thread) } });

/** Reads the comments of all threads, oldest first within each. */
export const readAllComments = (deps: Pick<Ports, "tables">, document: string) =>
  readAll(deps, commentsTable, { pk: document });
