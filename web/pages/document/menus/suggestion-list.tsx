import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { Floating } from "./floating.tsx";
import classes from "./menus.module.css";
import { type Suggestions, useCombobox } from "./use-suggestions.ts";

/** Something that a menu offers while a user types. */
export interface Suggestion {
  readonly id: string;
  /** The heading above it and its neighbors. */
  readonly group: string;
  readonly label: string;
  readonly about?: string;
  readonly icon: ReactNode;
  /** Keys that do the same. */
  readonly keys?: string;
  readonly run: () => void;
}

interface Props {
  readonly suggestions: Suggestions;
  readonly label: string;
  readonly items: readonly Suggestion[];
  readonly isLoading?: boolean;
}

/** A list below the cursor whose items the arrow keys choose while the focus stays in the text. */
export function SuggestionList({ suggestions, label, items, isLoading = false }: Props): ReactNode {
  const { t } = useTranslation();
  const listId = useId();
  const [chosen, choose] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const active = Math.min(chosen, items.length - 1);
  const idOf = (index: number): string => `${listId}-${index}`;
  useCombobox(listId, items.length === 0 ? undefined : idOf(active));
  const { query, close, clear } = suggestions;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query is another list
  useEffect(() => choose(0), [query]);
  const isHopeless = items.length === 0 && !isLoading && /\s/.test(query);
  useEffect(() => {
    if (isHopeless) close();
  }, [isHopeless, close]);
  const run = (item: Suggestion): void => {
    clear();
    item.run();
  };
  useMenuKeys({
    ArrowDown: () => choose((active + 1) % Math.max(1, items.length)),
    ArrowUp: () => choose((active + items.length - 1) % Math.max(1, items.length)),
    PageDown: () => choose(items.length - 1),
    PageUp: () => choose(0),
    Escape: close,
    ...(items[active] === undefined
      ? {}
      : { Enter: () => run(items[active] as Suggestion), Tab: () => run(items[active] as Suggestion) }),
  });
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  const groups = Map.groupBy(
    items.map((item, index) => ({ item, index })),
    ({ item }) => item.group,
  );
  return (
    <Floating
      rect={suggestions.rect}
      side="below"
      className={classes.menu}
      onMouseDown={(event) => event.preventDefault()}
    >
      <div ref={list} id={listId} role="listbox" aria-label={label} aria-busy={isLoading}>
        {[...groups].map(([group, members], at) => (
          // biome-ignore lint/a11y/useSemanticElements: options are grouped
          <div key={group} role="group" aria-labelledby={`${listId}-group-${at}`}>
            <div id={`${listId}-group-${at}`} className={classes.group}>
              {group}
            </div>
            {members.map(({ item, index }) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the editor has the focus and handles the keys
              <div
                key={item.id}
                id={idOf(index)}
                role="option"
                tabIndex={-1}
                aria-selected={index === active}
                className={classes.option}
                onMouseMove={() => choose(index)}
                onClick={() => run(item)}
              >
                <span className={classes.icon} aria-hidden>
                  {item.icon}
                </span>
                <span className={classes.label} dir="auto">
                  {item.label}
                  {item.about !== undefined && <small>{item.about}</small>}
                </span>
                {item.keys !== undefined && <kbd>{item.keys}</kbd>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p role="status" className={items.length === 0 ? classes.none : classes.hidden}>
        {isLoading && items.length === 0 ? t("editor.loading") : t("editor.results", { count: items.length })}
      </p>
    </Floating>
  );
}

/** Handles keys of the editor before the editor does. */
function useMenuKeys(keys: Readonly<Record<string, () => void>>): void {
  const editor = useBlockEditor();
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const element = editor.domElement;
    const onKeyDown = (event: KeyboardEvent): void => {
      const run = latest.current[event.key];
      if (run === undefined || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    element?.addEventListener("keydown", onKeyDown, true);
    return () => element?.removeEventListener("keydown", onKeyDown, true);
  }, [editor]);
}
