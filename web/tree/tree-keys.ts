import { keyOfRow, type TreeRow } from "./tree-rows.ts";

/** What a key does in the tree. */
export type TreeAction =
  | { readonly type: "focus"; readonly key: string }
  | { readonly type: "expand"; readonly id: string }
  | { readonly type: "collapse"; readonly id: string }
  | { readonly type: "open"; readonly row: TreeRow }
  | { readonly type: "menu"; readonly row: TreeRow }
  | { readonly type: "move"; readonly row: TreeRow; readonly by: -1 | 1 };

interface Pressed {
  readonly key: string;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const focus = (row: TreeRow | undefined): TreeAction | undefined =>
  row === undefined ? undefined : { type: "focus", key: keyOfRow(row) };

/** The action of a key by the tree pattern of the WAI-ARIA Authoring Practices; undefined for other keys. */
export function actionOfKey(
  rows: readonly TreeRow[],
  active: string,
  pressed: Pressed,
): TreeAction | undefined {
  const at = Math.max(
    rows.findIndex((row) => keyOfRow(row) === active),
    0,
  );
  const row = rows[at];
  if (row === undefined) return undefined;
  const { key, altKey, shiftKey } = pressed;
  if (altKey) {
    if (key === "ArrowUp") return { type: "move", row, by: -1 };
    return key === "ArrowDown" ? { type: "move", row, by: 1 } : undefined;
  }
  switch (key) {
    case "ArrowDown":
      return focus(rows[at + 1]);
    case "ArrowUp":
      return focus(rows[at - 1]);
    case "Home":
      return focus(rows[0]);
    case "End":
      return focus(rows.at(-1));
    case "ArrowRight":
      if (row.kind === "more" || row.isExpanded === undefined) return undefined;
      return row.isExpanded ? focus(rows[at + 1]) : { type: "expand", id: row.document.id };
    case "ArrowLeft":
      if (row.kind === "document" && row.isExpanded === true)
        return { type: "collapse", id: row.document.id };
      return focus(rows.find((other) => keyOfRow(other) === row.parent));
    case "Enter":
      return { type: "open", row };
    case "ContextMenu":
      return { type: "menu", row };
    case "F10":
      return shiftKey ? { type: "menu", row } : undefined;
    default:
      return undefined;
  }
}

/** The next row, after the active one, whose title begins with what was typed. */
export function rowByTypedText(
  rows: readonly TreeRow[],
  active: string,
  typed: string,
  titleOf: (row: TreeRow) => string,
): TreeRow | undefined {
  const at = rows.findIndex((row) => keyOfRow(row) === active);
  // More letters continue with the same row, the first one with the next.
  const from = typed.length > 1 ? at : at + 1;
  const inOrder = [...rows.slice(Math.max(from, 0)), ...rows.slice(0, Math.max(from, 0))];
  const text = typed.toLocaleLowerCase();
  return inOrder.find((row) => row.kind === "document" && titleOf(row).toLocaleLowerCase().startsWith(text));
}
