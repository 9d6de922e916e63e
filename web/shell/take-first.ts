import type { KeyboardEvent } from "react";

/** Enter takes the first result of a palette if none is selected, as after the results have changed. */
export function takeFirst({ key, currentTarget }: KeyboardEvent): void {
  if (key !== "Enter") return;
  const dialog = currentTarget.closest("[role='dialog']");
  if (dialog?.querySelector("[data-selected]") === null)
    dialog.querySelector<HTMLElement>("[data-action]")?.click();
}
