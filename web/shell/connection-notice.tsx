import type { ReactNode } from "react";
import { useConnectionLost } from "../api/connection.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./shell.module.css";

/** Says that the server does not respond, as long as that lasts. */
export function ConnectionNotice(): ReactNode {
  const { t } = useTranslation();
  const isLost = useConnectionLost();
  return (
    <div role="status">
      {isLost && (
        <p className={classes.notice}>{t(navigator.onLine ? "connection.lost" : "connection.offline")}</p>
      )}
    </div>
  );
}
