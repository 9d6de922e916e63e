import type { ReactNode } from "react";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useTranslation } from "../i18n/use-translation.ts";

interface Props {
  /** Numbers of documents with changes that were not sent, and of workflows with changes that were not saved. */
  readonly lost: { readonly documents: number; readonly workflows: number };
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

/** Asks before a logout that deletes changes. */
export function LogoutDialog({ lost, ...others }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      title={t("login.log_out_title")}
      cancel={t("login.stay")}
      confirm={t("app.log_out")}
      isPending={false}
      {...others}
    >
      {lost.documents > 0 && <p>{t("login.unsent", { count: lost.documents })}</p>}
      {lost.workflows > 0 && <p>{t("login.unsaved", { count: lost.workflows })}</p>}
    </ConfirmDialog>
  );
}
