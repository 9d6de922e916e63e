import type { ReactNode } from "react";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./findings.module.css";

/** The severities that are counted, the worst first. Others are shown as they were reported. */
export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

export function Severity({ name }: { readonly name: string }): ReactNode {
  const { t } = useTranslation();
  const known = SEVERITIES.find((one) => one === name);
  return (
    <span className={classes.severity} data-severity={known}>
      {known === undefined ? name : t(`severity.${known}`)}
    </span>
  );
}
