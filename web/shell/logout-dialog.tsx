import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";

interface Props {
  /** Number of documents with changes that were not sent. */
  readonly unsent: number;
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

/** Asks before a logout that deletes changes. */
export function LogoutDialog({ unsent, ...others }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      title={t("login.log_out_title")}
      cancel={t("login.stay")}
      confirm={t("app.log_out")}
      isPending={false}
      {...others}
    >
      <p>{t("login.unsent", { count: unsent })}</p>
    </ConfirmDialog>
  );
}
