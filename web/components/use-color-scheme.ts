import { useSyncExternalStore } from "react";
import {
  type ColorScheme,
  chosenColorScheme,
  onColorSchemeChange,
  type ShownColorScheme,
  shownColorScheme,
} from "../color-scheme.ts";

/** What is chosen on this device. */
export const useChosenColorScheme = (): ColorScheme =>
  useSyncExternalStore(onColorSchemeChange, chosenColorScheme);

/** What is shown. */
export const useShownColorScheme = (): ShownColorScheme =>
  useSyncExternalStore(onColorSchemeChange, shownColorScheme);
