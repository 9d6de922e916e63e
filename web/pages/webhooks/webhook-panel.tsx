import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EVENTS, eventPath } from "../../api/events.ts";
import { useEnableSchedule } from "../../api/schedules.ts";
import { type Webhook, webhookCommand } from "../../api/webhooks.ts";
import { workflowPath } from "../../api/workflows.ts";
import { Button } from "../../components/button.tsx";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { ErrorState, messageOf } from "../../components/error-state.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { ExactTime, Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EventState } from "../events/event-state.tsx";
import { TryWebhook } from "./try-webhook.tsx";
import classes from "./webhooks.module.css";

/** Calls that are shown. */
const CALLS_MAX = 10;
const REFRESH_MS = 3_000;

interface Props {
  readonly webhook: Webhook;
  readonly closeHref: string;
}

/** How a webhook is called, a form that calls it, and its last calls. */
export function WebhookPanel({ webhook, closeHref }: Props): ReactNode {
  const { t } = useTranslation();
  const enable = useEnableSchedule();
  const { workflow_name, trigger_name, is_enabled, schedule_id, url } = webhook;
  const address = location.origin + url;
  return (
    <DetailsPanel title={trigger_name} closeHref={closeHref}>
      <div className={classes.facts}>
        <Facts>
          <Fact name={t("webhooks.workflow")}>
            <Link href={workflowPath(workflow_name)}>{workflow_name}</Link>
          </Fact>
          <Fact name={t("webhooks.created")}>
            <Time value={webhook.created_at} />
          </Fact>
        </Facts>
        <Button
          variant="default"
          size="compact-sm"
          loading={enable.isPending}
          onClick={() =>
            enable.mutate(
              { id: schedule_id, isEnabled: !is_enabled },
              { onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`) },
            )
          }
        >
          {t(is_enabled ? "webhooks.pause" : "webhooks.resume")}
        </Button>
      </div>
      <DetailsSection
        title={t("webhooks.url")}
        action={<CopyTextButton text={address} label={t("webhooks.copy_url")} />}
      >
        <code className={classes.code}>{address}</code>
      </DetailsSection>
      {webhook.auth !== "none" && <Secret webhook={webhook} />}
      <DetailsSection
        title={t("webhooks.example")}
        action={
          <CopyTextButton
            text={webhookCommand(webhook, location.origin, '{"hello":"world"}')}
            label={t("webhooks.copy_example")}
          />
        }
      >
        <p className={classes.muted}>{t(`webhooks.explain_${webhook.auth}`)}</p>
      </DetailsSection>
      <TryWebhook webhook={webhook} />
      <LastCalls webhook={webhook} />
      <p className={classes.muted}>{t("webhooks.remove_hint")}</p>
    </DetailsPanel>
  );
}

/** Hidden until it is wanted: the page may be shared on a screen. */
function Secret({ webhook }: Pick<Props, "webhook">): ReactNode {
  const { t } = useTranslation();
  const [isShown, { toggle }] = useDisclosure();
  return (
    <DetailsSection
      title={t("webhooks.secret")}
      action={
        <span className={classes.actions}>
          <Button variant="subtle" size="compact-sm" aria-pressed={isShown} onClick={toggle}>
            {t(isShown ? "webhooks.hide" : "webhooks.show")}
          </Button>
          <CopyTextButton text={webhook.secret} label={t("webhooks.copy_secret")} />
        </span>
      }
    >
      <code className={classes.code}>{isShown ? webhook.secret : "•".repeat(24)}</code>
    </DetailsSection>
  );
}

function LastCalls({ webhook }: Pick<Props, "webhook">): ReactNode {
  const { t } = useTranslation();
  const query = {
    topic: "webhook.received",
    workflow_name: webhook.workflow_name,
    name: `${webhook.trigger_name}-received`,
    limit: CALLS_MAX,
  };
  const calls = useQuery({
    queryKey: [EVENTS, query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/event-logs", { params: { query }, signal })),
    refetchInterval: REFRESH_MS,
  });
  const { limit: _limit, ...filters } = query;
  return (
    <DetailsSection
      title={t("webhooks.last_calls")}
      action={
        <Link href={`/events?${new URLSearchParams(filters)}`} className={classes.link}>
          {t("webhooks.all_calls")}
        </Link>
      }
    >
      {calls.isError && <ErrorState error={calls.error} onRetry={() => void calls.refetch()} />}
      {calls.isSuccess && calls.data.data.length === 0 && (
        <p className={classes.muted}>{t("webhooks.no_calls")}</p>
      )}
      <ul className={classes.calls}>
        {calls.data?.data.map((event) => (
          <li key={event.event_id}>
            <Link href={eventPath(event.event_id)} className={classes.link}>
              <ExactTime value={event.created_at} />
            </Link>
            <EventState event={event} />
          </li>
        ))}
      </ul>
    </DetailsSection>
  );
}
