import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/** Why a user is notified. */
export const NOTIFICATION_KINDS = [
  "comment",
  "reply",
  "mention",
  "share",
  "access_request",
  "failed_run",
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/**
 * A notification of a user, by the id of the event that caused it: a redelivered event adds nothing. It contains ids
 * only: title, names and text are read when it is shown, if the user may still read them.
 */
export interface StoredNotification extends Key {
  readonly kind: NotificationKind;
  /** When the event was recorded, ISO 8601. */
  readonly created_at: string;
  /** Seconds since the epoch. */
  readonly expires_at: number;
  /** Id of the user who caused it; null if anonymous, or of a run. */
  readonly actor: string | null;
  readonly document?: string;
  readonly thread?: string;
  readonly comment?: string;
  /** The block of the document that mentions the user. */
  readonly block?: string;
  /** The role that was given or requested. */
  readonly role?: Role;
  readonly run?: FailedRun;
  /** Whether it is in the list; otherwise it is only sent by email. */
  readonly in_app: boolean;
  /** The digest that contains it; absent if it is not sent in one. */
  readonly digest?: string;
  /** When an email with it was sent, ISO 8601. */
  readonly mailed_at?: string;
  /** ISO 8601. */
  readonly read_at: string | null;
}

/** A run that failed, as its event describes it: another service stores the run. */
export type FailedRun = {
  readonly id: string;
  readonly workflow: string;
  /** Shortened. */
  readonly error: string;
};

const NAME = "notifications";
const EXPIRES = "expires_at";

/** By user and event; event ids sort by time. */
export const notificationsTable: TableSpec<StoredNotification> = {
  name: NAME,
  indexes: {},
  expires: EXPIRES,
};
export const notificationKey = (user: string, event: string): Key => ({ pk: user, sk: event });

/** What a user has changed of the default settings, and how many notifications were created since the last cleanup. */
export type NotificationState = Key & {
  readonly total?: number;
} & { readonly [setting in `${"email" | "in_app"}_${NotificationKind}`]?: boolean };

export const notificationStatesTable: TableSpec<NotificationState> = {
  name: NAME,
  indexes: {},
  expires: EXPIRES,
};
export const notificationStateKey = (user: string): Key => ({ pk: `${user}/state`, sk: "state" });

/** The digest of a user and a thread, or of a workflow. */
export interface StoredDigest extends Key {
  /** Id of the queued email that will contain further notifications; absent if none is queued. */
  readonly mail?: string;
  /** When its latest email was due, milliseconds since the epoch. */
  readonly due_at?: number;
  /** Seconds since the epoch. */
  readonly expires_at: number;
}

export const digestsTable: TableSpec<StoredDigest> = { name: NAME, indexes: {}, expires: EXPIRES };
export const digestKey = (user: string, digest: string): Key => ({ pk: `${user}/digests`, sk: digest });

/** A mention in the content of a document of which its user was notified. */
export const notifiedMentionsTable: TableSpec<Key> = { name: NAME, indexes: {}, expires: EXPIRES };
export const notifiedMentionKey = (document: string, user: string, block: string): Key => ({
  pk: `${document}/mentions`,
  sk: `${user}/${block}`,
});

/** The users who are notified of failed runs. */
export const runSubscribersTable: TableSpec<Key> = { name: NAME, indexes: {}, expires: EXPIRES };
export const RUN_SUBSCRIBERS = "failed-run-subscribers";

/** The key that signs links for people who are not signed in. */
export interface LinkKey extends Key {
  readonly key: string;
}

export const linkKeysTable: TableSpec<LinkKey> = { name: NAME, indexes: {}, expires: EXPIRES };
export const LINK_KEY: Key = { pk: "installation", sk: "link-key" };
