import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { ApiFailure } from "../../client/api.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { Button } from "./button.tsx";
import classes from "./notice.module.css";

/** What a failed request says: the message of the service, or that there was no response. */
export function messageOf(error: unknown, t: TFunction): string {
  if (!(error instanceof ApiFailure)) return t("error.unreachable");
  return error.message === "" ? t("error.unknown", { status: error.status }) : error.message;
}

interface Props {
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Part of a page that could not be loaded. */
export function ErrorState({ error, onRetry }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <div className={classes.notice} role="alert">
      <h2>{t("error.title")}</h2>
      <p>{messageOf(error, t)}</p>
      <Button variant="default" onClick={onRetry}>
        {t("app.retry")}
      </Button>
    </div>
  );
}
