import type { TFunction } from "i18next";
import type { MenuGroup } from "./action-menu.tsx";
import { COLORS, type Color, type ColorKind } from "./colors.ts";
import classes from "./menus.module.css";

/** The choice of a color as a part of a menu. */
export const colorGroup = (
  t: TFunction,
  kind: ColorKind,
  current: string,
  choose: (color: Color) => void,
): MenuGroup => ({
  id: kind,
  label: t(`editor.${kind}`),
  entries: COLORS.map((color) => ({
    id: color,
    label: t(`color.${color}`),
    sample: (
      <span aria-hidden className={classes.swatch} data-kind={kind} data-color={color}>
        A
      </span>
    ),
    isChecked: color === current,
    run: () => choose(color),
  })),
});
