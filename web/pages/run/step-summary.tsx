import type { ReactNode } from "react";
import type { Schemas } from "../../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { copyText } from "../../components/copy-text.ts";
import { State, type StateName } from "../../components/state.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./panel.module.css";
import { durationOfStep, stateOfStep, type TimelineStep } from "./timeline-data.ts";

interface Props {
  readonly step: TimelineStep;
  /** Undefined until it is loaded. */
  readonly details: Schemas["StepResult"] | undefined;
}

/** The facts of a step, why it failed, what it executed with which environment, and what it set. */
export function StepSummary({ step, details }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const error = details?.error_message ?? step.error_message;
  const duration = formatDuration(durationOfStep(step, Date.now()), i18n.language);
  return (
    <div className={classes.part}>
      <dl className={classes.facts}>
        <dt>{t("runs.status")}</dt>
        <dd>
          <State name={stateOfStep(step)} />
        </dd>
        <dt>{t("step.type")}</dt>
        <dd>{step.step_type}</dd>
        {step.module !== "" && (
          <>
            <dt>{t("step.module")}</dt>
            <dd>{step.module}</dd>
          </>
        )}
        <dt>{t("runs.started")}</dt>
        <dd>{step.taken_over ? t("step.taken_over") : <Time value={step.started_at} />}</dd>
        <dt>{t("runs.duration")}</dt>
        <dd>{step.taken_over ? formatDuration(details?.duration_ms ?? 0, i18n.language) : duration}</dd>
        {step.retry_at !== null && (
          <>
            <dt>{t("step.retry_at")}</dt>
            <dd>
              <Time value={step.retry_at} />
            </dd>
          </>
        )}
      </dl>
      {error !== "" && <Text name={t("run.error")} text={error} kind="error" />}
      {details !== undefined && details.command !== "" && (
        <Text name={t("run.command")} text={details.command} />
      )}
      {step.attempts.length > 1 && <Attempts step={step} />}
      {details !== undefined && <Values name={t("step.environment")} values={details.environment} />}
      {details !== undefined && <Values name={t("step.exports")} values={details.exports} />}
    </div>
  );
}

interface TextProps {
  readonly name: string;
  readonly text: string;
  readonly kind?: "error";
}

function Text({ name, text, kind }: TextProps): ReactNode {
  const { t } = useTranslation();
  return (
    <section>
      <h3>
        {name}
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t("text.copy_named", { name })}
          onClick={() =>
            void copyText(text).then((isCopied) => showToast(t(isCopied ? "text.copied" : "copy.refused")))
          }
        >
          {t("text.copy")}
        </Button>
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre data-kind={kind} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

function Values({ name, values }: { readonly name: string; readonly values: object }): ReactNode {
  const { t } = useTranslation();
  const entries = Object.entries(values) as [string, string][];
  if (entries.length === 0) return null;
  return (
    <section>
      <h3>{name}</h3>
      <table className={classes.values} aria-label={name}>
        <thead>
          <tr>
            <th scope="col">{t("step.name")}</th>
            <th scope="col">{t("step.value")}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td dir="auto">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Attempts({ step: { attempts } }: { readonly step: TimelineStep }): ReactNode {
  const { t, i18n } = useTranslation();
  const now = Date.now();
  return (
    <section>
      <h3>{t("step.attempts")}</h3>
      <table className={classes.values} aria-label={t("step.attempts")}>
        <thead>
          <tr>
            <th scope="col">{t("step.number")}</th>
            <th scope="col">{t("runs.status")}</th>
            <th scope="col">{t("runs.started")}</th>
            <th scope="col">{t("runs.duration")}</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts are numbered
            <tr key={index}>
              <th scope="row">{index + 1}</th>
              <td>
                {attempt.status === "lost" ? t("step.lost") : <State name={attempt.status as StateName} />}
              </td>
              <td>
                <Time value={attempt.started_at} />
              </td>
              <td>{formatDuration(durationOfStep(attempt, now), i18n.language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
