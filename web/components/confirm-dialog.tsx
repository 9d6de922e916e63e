import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "./button.tsx";
import classes from "./confirm-dialog.module.css";
import { Dialog } from "./dialog.tsx";

interface Props {
  /** What is asked, with the name of the object. */
  readonly title: string;
  /** What follows from it. */
  readonly children: ReactNode;
  /** A verb. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. Load it when it is needed. */
export function ConfirmDialog({ title, children, action, isPending, onConfirm, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <Dialog onClose={onClose} title={title}>
      <div className={classes.question}>
        <p>{children}</p>
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            {t("confirm.keep")}
          </Button>
          <Button data-autofocus loading={isPending} onClick={onConfirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
