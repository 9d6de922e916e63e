import type { ReactNode } from "react";
import { Button, ButtonLink } from "../components/button.tsx";
import { useWindowTitle } from "../components/window-title.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./message-page.module.css";

interface Props {
  readonly kind: "forbidden" | "missing" | "offline" | "failed";
}

/** A page for an address that cannot be shown: why, and what to do. */
export function StatusPage({ kind }: Props): ReactNode {
  const { t } = useTranslation();
  useWindowTitle(t(`status.${kind}_title`));
  const canReload = kind === "offline" || kind === "failed";
  return (
    <div className={classes.page}>
      <h1>{t(`status.${kind}_title`)}</h1>
      <p>{t(`status.${kind}`)}</p>
      {canReload ? (
        <Button onClick={() => location.reload()}>{t("status.reload")}</Button>
      ) : (
        <ButtonLink href="/">{t("status.home")}</ButtonLink>
      )}
    </div>
  );
}
