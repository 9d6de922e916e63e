import type { ReactNode } from "react";
import { messageOf } from "../components/error-state.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./transfer.module.css";
import type { ExportJob } from "./use-export.ts";

const BYTES_PER_KB = 1000;

interface Props {
  readonly job: ExportJob | undefined;
  readonly error: Error | null;
}

/** How far an export is, and the link to its file. */
export function ExportState({ job, error }: Props): ReactNode {
  const { t } = useTranslation();
  const failure = error === null ? job?.error : messageOf(error, t);
  return (
    <div role="status" className={classes.state} data-failed={failure != null || undefined}>
      {failure != null && t("export.failed", { reason: failure })}
      {failure == null && job?.status === "waiting" && t("export.waiting")}
      {failure == null && job?.status === "running" && (
        <>
          {t("export.running", { ...job.progress })}
          <progress value={job.progress.done} max={job.progress.total} />
        </>
      )}
      {job?.status === "done" && job.url !== null && (
        <>
          {t("export.done", { size: Math.ceil((job.bytes ?? 0) / BYTES_PER_KB) })}{" "}
          <a href={job.url} className={classes.open}>
            {t("export.download")}
          </a>
        </>
      )}
    </div>
  );
}
