import type { ReactNode } from "react";
import { Link } from "wouter";
import { Dialog } from "../components/dialog.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./about-dialog.module.css";

interface Props {
  /** Undefined until the server has said it. */
  readonly version: string | undefined;
  readonly onClose: () => void;
}

/** Which version this is, and under which licenses. */
export function AboutDialog({ version, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <Dialog returnFocus={false} onClose={onClose} title={t("help.about")}>
      <div className={classes.about}>
        {version !== undefined && <p>{t("help.version", { version })}</p>}
        <p>{t("help.license")}</p>
        <Link href="/guide/licenses" onClick={onClose}>
          {t("help.packages")}
        </Link>
      </div>
    </Dialog>
  );
}
