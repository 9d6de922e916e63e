import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./panel.module.css";
import type { RunStream } from "./run-stream.ts";
import type { TextRow } from "./text/text-rows.ts";
import { TextViewer } from "./text/text-viewer.tsx";
import { logSource, outputSource } from "./text-sources.ts";

const STREAMS = ["stdout", "stderr"] as const;

interface Props {
  readonly id: string;
  readonly stepKey: string;
  readonly kind: "output" | "log";
  /** Undefined if nothing is added. */
  readonly stream: RunStream | undefined;
  readonly attempts: number;
}

/** What a step printed, or its lines of the run's log. */
export function StepText({ id, stepKey, kind, stream, attempts }: Props): ReactNode {
  const { t } = useTranslation();
  const [stdout, setStdout] = useState<(typeof STREAMS)[number]>("stdout");
  const [attempt, setAttempt] = useState<number>();
  const source = useMemo(
    () =>
      kind === "log"
        ? logSource({ id, stream })
        : outputSource({ id, stream, step: stepKey, stdout, attempt }),
    [id, stream, stepKey, kind, stdout, attempt],
  );
  const isOfStep = useCallback(
    ({ text }: TextRow) => text.includes(`[${stepKey}] `) || text.includes(`[${stepKey}#`),
    [stepKey],
  );
  return (
    <div className={classes.text}>
      {kind === "output" && (
        <div className={classes.choices}>
          <select
            aria-label={t("step.stream")}
            value={stdout}
            onChange={({ currentTarget }) =>
              setStdout(STREAMS.find((name) => name === currentTarget.value) ?? "stdout")
            }
          >
            {STREAMS.map((name) => (
              <option key={name} value={name}>
                {t(`step.${name}`)}
              </option>
            ))}
          </select>
          {attempts > 1 && (
            <select
              aria-label={t("step.attempt")}
              value={attempt ?? ""}
              onChange={({ currentTarget }) =>
                setAttempt(currentTarget.value === "" ? undefined : Number(currentTarget.value))
              }
            >
              <option value="">{t("step.last_attempt")}</option>
              {Array.from({ length: attempts }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: attempts are numbered
                <option key={index} value={index + 1}>
                  {t("step.attempt_number", { number: index + 1 })}
                </option>
              ))}
            </select>
          )}
        </div>
      )}
      <TextViewer
        label={t(`step.tab_${kind}`)}
        source={source}
        fileName={`${stepKey.replaceAll(/[^\w.#-]/g, "_")}.${kind === "log" ? "log" : stdout}.txt`}
        empty={t(kind === "log" ? "run.no_log" : "run.no_output")}
        {...(kind === "log" ? { filter: isOfStep } : {})}
      />
    </div>
  );
}
