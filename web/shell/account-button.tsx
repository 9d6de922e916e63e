import type { ComponentProps, ReactNode } from "react";
import type { Schemas } from "../../client/api.ts";
import { nameOf } from "../api/me.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./shell.module.css";

interface Props extends ComponentProps<"button"> {
  readonly me: Schemas["User"];
}

/** Who is signed in; it opens the account's menu. */
export function AccountButton({ me, ...others }: Props): ReactNode {
  const { t } = useTranslation();
  const name = nameOf(me);
  return (
    <button type="button" aria-haspopup="menu" {...others} className={classes.link}>
      <span className={classes.initial} aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="hidden">{t("app.account")}</span>
      <span className={`${classes.user} ${classes.text}`}>{name}</span>
    </button>
  );
}
