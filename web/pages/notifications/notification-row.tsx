import { IconCheck } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { documentPath } from "../../api/documents.ts";
import { IconButton } from "../../components/icon-button.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./notifications.module.css";
import type { Notification } from "./notifications.ts";

const ICON_SIZE = 16;

interface Props {
  readonly notification: Notification;
  readonly onRead: () => void;
}

/** What happened, with a link to it; opening it marks it as read. */
export function NotificationRow({ notification, onRead }: Props): ReactNode {
  const { t } = useTranslation();
  const { created_at, excerpt, run, read_at } = notification;
  const isUnread = read_at === null;
  const path = pathOf(notification);
  const text = textOf(notification, t);
  const detail = run?.error ?? excerpt ?? "";
  return (
    <li data-unread={isUnread || undefined}>
      {isUnread ? (
        <span className={classes.mark} role="img" aria-label={t("notifications.is_unread")} />
      ) : (
        <span />
      )}
      <div className={classes.text}>
        {path === undefined ? (
          <span dir="auto">{text}</span>
        ) : (
          <Link href={path} dir="auto" onClick={isUnread ? onRead : undefined}>
            {text}
          </Link>
        )}
        {detail !== "" && (
          <p className={classes.detail} dir="auto">
            {detail}
          </p>
        )}
      </div>
      <Time value={created_at} />
      <span className={classes.action}>
        {isUnread && (
          <IconButton aria-label={t("notifications.read")} onClick={onRead}>
            <IconCheck size={ICON_SIZE} aria-hidden />
          </IconButton>
        )}
      </span>
    </li>
  );
}

function textOf({ kind, actor, document, run }: Notification, t: TFunction): string {
  if (kind === "failed_run") return t("notifications.failed_run", { workflow: run?.workflow ?? "" });
  const name = actor === null ? t("notifications.somebody") : actor.full_name;
  const title = document === null ? t("notifications.deleted") : (document.title ?? t("app.untitled"));
  return t(`notifications.${kind}`, { name, title });
}

function pathOf({ document, run, thread_id: thread, block_id: block }: Notification): string | undefined {
  if (run !== null) return `/runs/${run.id}`;
  if (document === null) return undefined;
  const path = documentPath(document);
  if (thread !== null) return `${path}?${new URLSearchParams({ panel: "comments", thread })}`;
  return block ? `${path}?${new URLSearchParams({ block })}` : path;
}
