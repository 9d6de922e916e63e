import { useElementSize } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./item-grid.module.css";
import { type Items, statesOf } from "./item-states.ts";

const CELL = 16;

interface Props {
  readonly items: Items;
}

/** The items of a foreach as a heat map. Arrow keys move among them; Enter opens one. */
export function ItemGrid({ items }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [, hrefWith] = useQueryParameters();
  const { ref, width } = useElementSize();
  const scroll = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const states = useMemo(() => statesOf(items), [items]);
  const columns = Math.max(1, Math.floor(width / CELL));
  const virtual = useVirtualizer({
    count: Math.ceil(states.length / columns),
    getScrollElement: () => scroll.current,
    estimateSize: () => CELL,
    overscan: 4,
  });
  const { items_per_state: size, total, completed, failed, step } = items;
  const labelOf = (index: number): string => {
    const state = t(`state.${states[index] ?? "pending"}`);
    const from = index * size;
    return size === 1
      ? t("step.item", { number: from + 1, state })
      : t("step.items_range", { from: from + 1, to: Math.min(total, from + size), state });
  };
  const open = (index: number): void => {
    if (size === 1 && step !== "") navigate(hrefWith({ step: `${step}#${index}`, tab: undefined }));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = positionAfter(event.key, current, columns, states.length);
    if (next === undefined) return;
    event.preventDefault();
    setCurrent(next);
    virtual.scrollToIndex(Math.floor(next / columns));
    const focus = (): boolean => {
      const cell = scroll.current?.querySelector<HTMLElement>(`[data-item="${next}"]`);
      cell?.focus({ preventScroll: true });
      return cell !== undefined && cell !== null;
    };
    // A cell that is not in sight is drawn first.
    if (!focus()) requestAnimationFrame(() => void focus());
  };
  return (
    <div className={classes.items}>
      <p className={classes.legend} role="status">
        {t("step.items_count", { total, completed, failed })}
      </p>
      <div ref={scroll} className={classes.scroll}>
        {/* biome-ignore lint/a11y/useSemanticElements: a table of thousands of cells is not drawn as a whole */}
        <div
          ref={ref}
          role="grid"
          tabIndex={-1}
          aria-label={t("step.tab_items")}
          aria-rowcount={Math.ceil(states.length / columns)}
          aria-colcount={columns}
          className={classes.grid}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
        >
          {virtual.getVirtualItems().map(({ index: row, start }) => (
            // biome-ignore lint/a11y/useSemanticElements: as above
            <div
              key={row}
              role="row"
              tabIndex={-1}
              aria-rowindex={row + 1}
              className={classes.row}
              style={{ transform: `translateY(${start}px)` }}
            >
              {states.slice(row * columns, (row + 1) * columns).map((state, column) => {
                const index = row * columns + column;
                return (
                  // biome-ignore lint/a11y/useSemanticElements: as above
                  <button
                    key={index}
                    type="button"
                    role="gridcell"
                    data-item={index}
                    data-state={state}
                    tabIndex={index === current ? 0 : -1}
                    aria-label={labelOf(index)}
                    title={labelOf(index)}
                    onFocus={() => setCurrent(index)}
                    onClick={() => open(index)}
                  />
                );
              })}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function positionAfter(key: string, at: number, columns: number, count: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + columns,
    ArrowUp: at - columns,
    Home: 0,
    End: count - 1,
  };
  const next = moves[key];
  return next === undefined || next < 0 || next >= count ? undefined : next;
}
