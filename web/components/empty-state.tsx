import type { ReactNode } from "react";
import { Link } from "wouter";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./notice.module.css";

interface Props {
  readonly text: string;
  /** What to do first. */
  readonly action?: ReactNode;
  /** The guide about what would be here, such as `steps-bash`, and a part of it: `triggers#webhooks`. */
  readonly guide?: string | undefined;
}

export function EmptyState({ text, action, guide }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <div className={classes.notice}>
      <p>{text}</p>
      {action}
      {guide !== undefined && <Link href={`/guide/${guide}`}>{t("app.guide")}</Link>}
    </div>
  );
}
