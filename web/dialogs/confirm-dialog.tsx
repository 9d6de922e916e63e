import type { ReactNode } from "react";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import classes from "./confirm-dialog.module.css";

interface Props {
  readonly title: string;
  readonly question: ReactNode;
  readonly cancel: string;
  readonly confirm: string;
  readonly isPending: boolean;
  /** Whether the action can be confirmed already. */
  readonly canConfirm?: boolean;
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

/** Asks before something is done that cannot be undone. */
export function ConfirmDialog({ canConfirm = true, ...props }: Props): ReactNode {
  return (
    <Dialog onClose={props.onCancel} title={props.title}>
      <div className={classes.question}>{props.question}</div>
      <div className={classes.answers}>
        <Button variant="default" onClick={props.onCancel}>
          {props.cancel}
        </Button>
        <Button
          data-autofocus={canConfirm ? true : undefined}
          disabled={!canConfirm}
          loading={props.isPending}
          onClick={props.onConfirm}
        >
          {props.confirm}
        </Button>
      </div>
    </Dialog>
  );
}
