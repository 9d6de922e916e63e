import type { ReactNode } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { ListEnd } from "../../components/list-end.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { NotificationRow } from "./notification-row.tsx";
import rowClasses from "./notifications.module.css";
import { useMarkRead, useNotifications } from "./notifications.ts";

const LISTS = ["all", "unread"] as const;

/** What others did that concerns the user, and failed runs. */
export function NotificationsPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const list = parameters.get("list") === "unread" ? "unread" : "all";
  const notifications = useNotifications(list === "unread");
  const markRead = useMarkRead();
  const rows = notifications.data?.pages.flatMap(({ results }) => results) ?? [];
  const { count: total = 0, unread_count: unread = 0 } = notifications.data?.pages[0] ?? {};
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("notifications.title")}
        action={
          unread > 0 && (
            <Button variant="default" loading={markRead.isPending} onClick={() => markRead.mutate(undefined)}>
              {t("notifications.read_all")}
            </Button>
          )
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("notifications.lists")}
          tabs={LISTS.map((name) => ({
            name: t(`notifications.${name}`),
            href: hrefWith({ list: name === "all" ? undefined : name }),
            isCurrent: name === list,
          }))}
        />
      </div>
      {notifications.isError && (
        <ErrorState error={notifications.error} onRetry={() => void notifications.refetch()} />
      )}
      {notifications.isSuccess && rows.length === 0 && (
        <EmptyState text={t(`notifications.empty_${list}`)} guide="documents-notifications" />
      )}
      {rows.length > 0 && (
        <>
          <ul className={rowClasses.list} aria-label={t("notifications.list_label", { count: total })}>
            {rows.map((notification) => (
              <NotificationRow
                key={notification.id}
                notification={notification}
                onRead={() => markRead.mutate(notification.id)}
              />
            ))}
          </ul>
          <ListEnd
            hasMore={notifications.hasNextPage}
            isLoading={notifications.isFetchingNextPage}
            onMore={() => void notifications.fetchNextPage()}
          >
            {t("notifications.end", { count: rows.length, total })}
          </ListEnd>
        </>
      )}
    </div>
  );
}
