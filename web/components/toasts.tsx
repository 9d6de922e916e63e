import { type ReactNode, useSyncExternalStore } from "react";
import { Button } from "./button.tsx";
import classes from "./toasts.module.css";

const SHOWN_MS = 8_000;
const SHOWN_MAX = 3;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const listeners = new Set<() => void>();
let toasts: readonly Toast[] = [];
let lastId = 0;

function setToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const removeToast = (id: number): void => setToasts(toasts.filter((toast) => toast.id !== id));

/** Says in one line what has happened, for eight seconds, with an action such as Undo. */
export function showToast(text: string, action?: Toast["action"]): void {
  setTimeout(keepToast(text, action), SHOWN_MS);
}

/** The same, until the returned function is called. */
export function keepToast(text: string, action?: Toast["action"]): () => void {
  lastId += 1;
  const id = lastId;
  setToasts([...toasts, { id, text, ...(action === undefined ? {} : { action }) }].slice(-SHOWN_MAX));
  return () => removeToast(id);
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div role="status" className={classes.toasts}>
      {shown.map(({ id, text, action }) => (
        <div key={id} className={classes.toast}>
          <span>{text}</span>
          {action !== undefined && (
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => {
                removeToast(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}
