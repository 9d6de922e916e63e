import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import classes from "./confirm-dialog.module.css";
import { Dialog } from "./dialog.tsx";

interface Props {
  /** What is asked, with the name of the object. */
  readonly title: string;
  /** What follows from it. */
  readonly children: ReactNode;
  readonly cancel: string;
  /** A verb. */
  readonly confirm: string;
  readonly isPending: boolean;
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

/** Asks before something that cannot be undone. Load it when it is needed. */
export const ConfirmDialog = ({
  title,
  children,
  cancel,
  confirm,
  isPending,
  onCancel,
  onConfirm,
}: Props): ReactNode => (
  <Dialog onClose={onCancel} title={title}>
    <div className={classes.question}>
      {children}
      <div className={classes.buttons}>
        <Button variant="default" onClick={onCancel}>
          {cancel}
        </Button>
        <Button data-autofocus loading={isPending} onClick={onConfirm}>
          {confirm}
        </Button>
      </div>
    </div>
  </Dialog>
);
