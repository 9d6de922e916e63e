import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { SCHEDULES } from "../../api/schedules.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { type ListRows, ListWithDetails } from "../../components/list-with-details.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { orderingOf, pageOf, useQueryParameters } from "../../components/query-parameters.ts";
import { State } from "../../components/state.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { WebhookPanel } from "./webhook-panel.tsx";
import ownClasses from "./webhooks.module.css";

const PAGE_SIZE = 50;
const TRIGGER = `triggers:
  - name: from-outside
    type: webhook
`;
/** How often the last calls are read again, milliseconds. */
const REFRESH_MS = 5_000;

/** The webhooks of all workflows: their addresses, secrets and last calls. */
export function WebhooksPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters] = useQueryParameters();
  const page = pageOf(parameters);
  const query = {
    ...orderingOf(parameters, ["workflow_name"]),
    offset: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
  const webhooks = useQuery({
    // Webhooks are schedules: they are paused and resumed as such.
    queryKey: [SCHEDULES, "webhooks", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/webhooks", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const create = <ButtonLink href="/new-workflow">{t("webhooks.create")}</ButtonLink>;
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("webhooks.title")}
        action={
          <>
            <CopyCommand request={{ path: "/automation/webhooks", query }} />
            {create}
          </>
        }
      />
      <ListWithDetails
        list={webhooks}
        parameter="webhook"
        empty={
          <EmptyState
            text={t("webhooks.empty")}
            guide="triggers#webhook-triggers"
            action={
              <div className={ownClasses.example}>
                <pre className={ownClasses.code}>{TRIGGER}</pre>
                <CopyTextButton text={TRIGGER} label={t("webhooks.copy_trigger")} />
              </div>
            }
          />
        }
        table={(shown) => <WebhookTable {...shown} />}
        details={(webhook, closeHref) => (
          <WebhookPanel key={webhook.id} webhook={webhook} closeHref={closeHref} />
        )}
      />
    </div>
  );
}

function WebhookTable({ rows, chosen, hrefOf }: ListRows<Webhook>): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("webhooks.title")}
      columns={[
        { name: t("webhooks.workflow"), sort: "workflow_name" },
        { name: t("webhooks.state") },
        { name: t("webhooks.trigger") },
        { name: t("webhooks.auth") },
        { name: t("webhooks.calls"), kind: "number" },
        { name: t("webhooks.last_call") },
        { name: t("webhooks.copy_url"), kind: "actions" },
      ]}
    >
      {rows.map((webhook) => (
        <tr key={webhook.id}>
          <th scope="row">
            <Link
              href={hrefOf(webhook.id)}
              className={tableClasses.link}
              dir="auto"
              aria-current={webhook.id === chosen ? "true" : undefined}
            >
              {webhook.workflow_name}
            </Link>
          </th>
          <td>
            <State
              name={webhook.is_enabled ? "completed" : "skipped"}
              label={t(webhook.is_enabled ? "webhooks.enabled" : "webhooks.paused")}
            />
          </td>
          <td className={tableClasses.text} dir="auto">
            {webhook.trigger_name}
          </td>
          <td className={tableClasses.muted}>{t(`webhooks.auth_${webhook.auth}`)}</td>
          <td className={tableClasses.number}>{webhook.run_count}</td>
          <td className={tableClasses.muted}>
            <Time value={webhook.last_run} />
          </td>
          <td className={tableClasses.actions}>
            <CopyTextButton text={location.origin + webhook.url} label={t("webhooks.copy_url")} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
