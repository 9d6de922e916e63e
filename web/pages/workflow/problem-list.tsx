import { IconAlertTriangle, IconCheck, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { ValidatedWorkflow } from "../../api/workflows.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./workflow.module.css";

const ICON_SIZE = 16;

interface Props {
  /** What the service said last; undefined before that. */
  readonly result: ValidatedWorkflow | undefined;
  readonly onLine: (line: number) => void;
}

/** What the service says about the text. An error leads to its line. */
export function ProblemList({ result, onLine }: Props): ReactNode {
  const { t } = useTranslation();
  if (result === undefined)
    return <section className={classes.problems} aria-label={t("workflow.problems")} />;
  return (
    <section className={classes.problems} aria-label={t("workflow.problems")} aria-live="polite">
      {result.valid && result.warnings.length === 0 && (
        <p className={classes.valid}>
          <IconCheck size={ICON_SIZE} aria-hidden />
          {t("workflow.valid")}
        </p>
      )}
      <ul>
        {result.errors.map(({ message, path, line }) => (
          <li key={`${line} ${path} ${message}`}>
            <button
              type="button"
              className={classes.invalid}
              disabled={line === undefined}
              onClick={() => onLine(line ?? 1)}
            >
              <IconX size={ICON_SIZE} aria-hidden />
              {line !== undefined && <span>{t("workflow.line", { line })}</span>}
              <span>{path === undefined || path === "" ? message : `${path}: ${message}`}</span>
            </button>
          </li>
        ))}
        {result.warnings.map((warning) => (
          <li key={warning} className={classes.warning}>
            <IconAlertTriangle size={ICON_SIZE} aria-hidden />
            <span>{warning}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
