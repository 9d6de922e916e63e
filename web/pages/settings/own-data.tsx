import type { ReactNode } from "react";
import { Button } from "../../components/button.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { ExportState } from "../../transfer/export-state.tsx";
import { useExport } from "../../transfer/use-export.ts";
import classes from "./settings.module.css";

/** All that the user owns, as a file. */
export function OwnData(): ReactNode {
  const { t } = useTranslation();
  const { start, isPending, job, error } = useExport();
  return (
    <section className={classes.section}>
      <p>{t("settings.data_intro")}</p>
      <Button loading={isPending} onClick={() => start("/api/v1.0/users/me/export/")}>
        {t("settings.data_export")}
      </Button>
      <ExportState job={job} error={error} />
    </section>
  );
}
