import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  NOTIFICATION_KINDS,
  type NotificationKind,
  type NotificationState,
  notificationStateKey,
  notificationStatesTable,
  RUN_SUBSCRIBERS,
  runSubscribersTable,
} from "../tables/notifications.ts";
import type { StoredUser } from "../tables/users.ts";
import { type AutomationDeps, mayUseAutomation } from "./automation-access.ts";

const CHANNELS = ["email", "in_app"] as const;
type Channel = (typeof CHANNELS)[number];

/** How a user is notified of one kind. */
export type ChannelSettings = Readonly<Record<Channel, boolean>>;
export type NotificationSettings = Readonly<Record<NotificationKind, ChannelSettings>>;

const MEANINGS: Readonly<Record<NotificationKind, string>> = {
  comment: "New threads on documents that the user owns or created",
  reply: "Comments in threads that the user takes part in",
  mention: "Comments and texts that mention the user",
  share: "Documents that were shared with the user",
  access_request: "Requests for access to documents that the user manages",
  failed_run: "Failed runs of workflows; off unless the user turns it on",
};

const each = <Value extends z.ZodType>(make: (kind: NotificationKind) => Value) =>
  z.object(
    Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind, make(kind)])) as Record<
      NotificationKind,
      Value
    >,
  );

export const notificationSettingsRecord = each((kind) =>
  z.object({ email: z.boolean(), in_app: z.boolean() }).describe(MEANINGS[kind]),
).meta({ id: "NotificationSettings" });

/** Body of a change: what it does not contain stays as it is. */
export const notificationSettingsBody = each((kind) =>
  z
    .object({ email: z.boolean().optional(), in_app: z.boolean().optional() })
    .optional()
    .describe(MEANINGS[kind]),
);
export type NotificationSettingsBody = z.infer<typeof notificationSettingsBody>;

/** The settings of a user, from what they have changed. */
export function toSettings(state: NotificationState | undefined): NotificationSettings {
  const of = (kind: NotificationKind): ChannelSettings => {
    const isOn = kind !== "failed_run";
    return {
      email: state?.[`email_${kind}`] ?? isOn,
      in_app: state?.[`in_app_${kind}`] ?? isOn,
    };
  };
  return Object.fromEntries(
    NOTIFICATION_KINDS.map((kind) => [kind, of(kind)]),
  ) as unknown as NotificationSettings;
}

export async function readSettings(
  { tables }: Pick<Ports, "tables">,
  user: string,
): Promise<NotificationSettings> {
  return toSettings(await tables.get(notificationStatesTable, notificationStateKey(user)));
}

/**
 * Changes the settings of a user. Throws `bad_request` if the user turns on failed runs and may not use the workflow
 * service.
 */
export async function updateSettings(
  deps: AutomationDeps,
  user: StoredUser,
  body: NotificationSettingsBody,
): Promise<NotificationSettings> {
  const { email, in_app } = body.failed_run ?? {};
  if ((email === true || in_app === true) && !(await mayUseAutomation(deps, user.id))) {
    const message = "Only users who may use the workflow service are notified of failed runs.";
    throw new ApiError("bad_request", message, { body: { failed_run: [message] } });
  }
  return setChannels(deps, user.id, body);
}

/** Turns off the emails of some kinds. */
export async function turnOffEmails(
  deps: Pick<Ports, "tables">,
  user: string,
  kinds: readonly NotificationKind[],
): Promise<void> {
  await setChannels(deps, user, Object.fromEntries(kinds.map((kind) => [kind, { email: false }])));
}

async function setChannels(
  deps: Pick<Ports, "tables">,
  user: string,
  body: Partial<NotificationSettingsBody>,
): Promise<NotificationSettings> {
  const set: Record<string, boolean> = {};
  for (const kind of NOTIFICATION_KINDS)
    for (const channel of CHANNELS) {
      const value = body[kind]?.[channel];
      if (value !== undefined) set[`${channel}_${kind}`] = value;
    }
  if (Object.keys(set).length === 0) return readSettings(deps, user);
  // First, so that a process that dies in between leaves a subscriber who is skipped, and never the opposite.
  if (body.failed_run?.email === true || body.failed_run?.in_app === true)
    await deps.tables.write([subscription(user, true)]);
  const key = notificationStateKey(user);
  const settings = toSettings(await deps.tables.update(notificationStatesTable, key, { set }));
  const { failed_run } = settings;
  if (body.failed_run !== undefined && !failed_run.email && !failed_run.in_app)
    await deps.tables.write([subscription(user, false)]);
  return settings;
}

function subscription(user: string, isOn: boolean): Write {
  const key = { pk: RUN_SUBSCRIBERS, sk: user };
  return isOn
    ? { op: "put", table: runSubscribersTable, item: key }
    : { op: "delete", table: runSubscribersTable, key };
}
