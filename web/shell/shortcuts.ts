import { useEffect } from "react";

/** Time for the second key of a sequence, milliseconds. */
const SEQUENCE_MS = 1_000;

/** What keys do: one key such as `?`, two in a row such as `g d`, or `mod+k`, which is Ctrl or Command with K. */
export type Shortcuts = Readonly<Record<string, () => void>>;

/** Whether keys write into an element. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select, [role='textbox']"));

/** Listens to keys of the page. Those without a modifier do nothing in a field or in an open dialog. */
export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.altKey || event.defaultPrevented) return;
      const withModifier = shortcuts[`mod+${event.key.toLowerCase()}`];
      if ((event.ctrlKey || event.metaKey) && withModifier !== undefined) {
        event.preventDefault();
        withModifier();
        return;
      }
      if (event.ctrlKey || event.metaKey) return;
      if (isField(event.target) || document.querySelector("[role='dialog'], dialog[open]") !== null) return;
      const { key } = event;
      const isSequence = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS;
      const run = (isSequence ? shortcuts[`${first?.key} ${key}`] : undefined) ?? shortcuts[key];
      first = { key, at: event.timeStamp };
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [shortcuts]);
}
