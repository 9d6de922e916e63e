import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { messageOf } from "../../components/error-state.tsx";
import { later } from "../../components/later.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./runs.module.css";

/** Runs in one request: small enough to show progress. */
const AT_ONCE = 20;

const ConfirmDialog = later(async () => (await import("../../components/confirm-dialog.tsx")).ConfirmDialog);

type Action = "cancel" | "rerun";

interface Props {
  readonly ids: readonly string[];
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
}

/** What can be done with the selected runs, with its progress. */
export function BulkBar({ ids, onSelectAll, onClear }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Action>();
  const [done, setDone] = useState<number>();
  const run = async (action: Action): Promise<void> => {
    setAsked(undefined);
    setDone(0);
    let succeeded = 0;
    const errors = new Set<string>();
    try {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const body = { ids: ids.slice(from, from + AT_ONCE) };
        const { results = [] } =
          action === "cancel"
            ? await dataOf(api.POST("/automation/runs/cancel", { body }))
            : await dataOf(api.POST("/automation/runs/rerun", { body }));
        for (const { ok, error } of results) {
          if (ok) succeeded += 1;
          else errors.add(error);
        }
        setDone(Math.min(ids.length, from + AT_ONCE));
      }
    } catch (error) {
      errors.add(messageOf(error, t));
    }
    const text = t(`runs.bulk_${action}_done`, { count: succeeded, total: ids.length });
    showToast([text, ...errors].slice(0, 2).join(" "));
    setDone(undefined);
    onClear();
    void client.invalidateQueries({ queryKey: ["runs"] });
  };
  return (
    <section className={classes.bulk} aria-label={t("runs.selection")}>
      <p role="status">
        {done === undefined
          ? t("runs.selected", { count: ids.length })
          : t("runs.bulk_progress", { done, total: ids.length })}
      </p>
      <Button variant="subtle" size="compact-sm" onClick={onSelectAll}>
        {t("runs.select_all")}
      </Button>
      <Button variant="subtle" size="compact-sm" onClick={onClear}>
        {t("runs.select_none")}
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        loading={done !== undefined}
        onClick={() => setAsked("cancel")}
      >
        {t("runs.bulk_cancel")}
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        loading={done !== undefined}
        onClick={() => setAsked("rerun")}
      >
        {t("runs.bulk_rerun")}
      </Button>
      {asked !== undefined && (
        <ConfirmDialog
          title={t(`runs.bulk_${asked}_question`, { count: ids.length })}
          cancel={t("confirm.keep")}
          confirm={t(`runs.bulk_${asked}`)}
          isPending={false}
          onCancel={() => setAsked(undefined)}
          onConfirm={() => void run(asked)}
        >
          <p>{t(`runs.bulk_${asked}_hint`)}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
