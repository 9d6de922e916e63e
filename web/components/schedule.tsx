import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { type Schedule, useEnableSchedule, useTriggerSchedule } from "../api/schedules.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { Button } from "./button.tsx";
import { messageOf } from "./error-state.tsx";
import classes from "./schedule.module.css";
import { showToast } from "./toasts.tsx";

interface Props {
  readonly schedule: Schedule;
}

/** When or by what a schedule starts a run, and why it does not. */
export function ScheduleCause({ schedule }: Props): ReactNode {
  const { t } = useTranslation();
  const { trigger_type: type, schedule: cron, timezone, event_topic, watch_path, error } = schedule;
  const cause = [cron, event_topic, watch_path].find((text) => text !== "");
  return (
    <span className={classes.cause}>
      {t(`schedules.type_${type}`)}
      {cause !== undefined && <code>{cause}</code>}
      {type === "cron" && timezone !== "" && <span>{timezone}</span>}
      {!schedule.is_enabled && <span className={classes.paused}>{t("schedules.paused")}</span>}
      {error !== "" && <span className={classes.error}>{error}</span>}
    </span>
  );
}

/** Pause or resume, and run now. */
export function ScheduleActions({ schedule }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const enable = useEnableSchedule();
  const trigger = useTriggerSchedule();
  const { id, name, is_enabled } = schedule;
  const onError = (error: Error): void => showToast(`${t("error.action")}: ${messageOf(error, t)}`);
  const runNow = (): void =>
    trigger.mutate(id, {
      onError,
      onSuccess: ({ run_id }) =>
        showToast(
          t("schedules.started", { name }),
          run_id === ""
            ? undefined
            : { label: t("schedules.open_run"), run: () => navigate(`/runs/${run_id}`) },
        ),
    });
  return (
    <span className={classes.actions}>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t(is_enabled ? "schedules.pause_named" : "schedules.resume_named", { name })}
        loading={enable.isPending}
        onClick={() => enable.mutate({ id, isEnabled: !is_enabled }, { onError })}
      >
        {t(is_enabled ? "schedules.pause" : "schedules.resume")}
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t("schedules.run_named", { name })}
        loading={trigger.isPending}
        onClick={runNow}
      >
        {t("schedules.run")}
      </Button>
    </span>
  );
}
