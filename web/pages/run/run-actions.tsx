import { type ReactNode, useState } from "react";
import { isFinished, type Run } from "../../api/runs.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { messageOf } from "../../components/error-state.tsx";
import { later } from "../../components/later.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { useCancelRun, useNewRun } from "./run-requests.ts";

const ConfirmDialog = later(async () => (await import("../../components/confirm-dialog.tsx")).ConfirmDialog);

/** What can be done with a run in its state. The primary action is that of most interest. */
export function RunActions({ run }: { readonly run: Run }): ReactNode {
  const { t } = useTranslation();
  const [, hrefWith] = useQueryParameters();
  const create = useNewRun(run.run_uuid);
  const [isAsking, setAsking] = useState(false);
  const isFailed = run.status === "failed";
  return (
    <>
      {!isFinished(run) && (
        <Button variant="default" onClick={() => setAsking(true)}>
          {t("run.cancel")}
        </Button>
      )}
      <ButtonLink
        id="open-rerun"
        variant={isFailed || !isFinished(run) ? "default" : "filled"}
        href={hrefWith({ panel: "rerun", step: undefined, tab: undefined })}
      >
        {t("run.rerun")}
      </ButtonLink>
      {isFailed && (
        <Button
          loading={create.isPending}
          onClick={() =>
            create.mutate(
              { action: "resume" },
              { onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`) },
            )
          }
        >
          {t("run.resume")}
        </Button>
      )}
      {isAsking && <CancelQuestion run={run} onClose={() => setAsking(false)} />}
    </>
  );
}

interface QuestionProps {
  readonly run: Run;
  readonly onClose: () => void;
}

function CancelQuestion({ run, onClose }: QuestionProps): ReactNode {
  const { t } = useTranslation();
  const cancel = useCancelRun(run.run_uuid);
  return (
    <ConfirmDialog
      title={t("run.cancel_question", { name: run.workflow_name })}
      cancel={t("confirm.keep")}
      confirm={t("run.cancel")}
      isPending={cancel.isPending}
      onCancel={onClose}
      onConfirm={() => cancel.mutate(undefined, { onSettled: onClose })}
    >
      <p>{t("run.cancel_hint")}</p>
    </ConfirmDialog>
  );
}
