import "@mantine/core/styles/global.css";
import "./mantine.css";
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  type MantineColorSchemeManager,
  MantineProvider,
  mergeMantineTheme,
} from "@mantine/core";
import type { ReactNode } from "react";
import { shownColorScheme } from "../color-scheme.ts";
import { styleNonce } from "../nonce.ts";
import { theme } from "../theme.ts";
import { useShownColorScheme } from "./use-color-scheme.ts";

/** The page sets the color scheme. */
const ignore = (): void => undefined;
const COLOR_SCHEMES: MantineColorSchemeManager = {
  get: shownColorScheme,
  set: ignore,
  subscribe: ignore,
  unsubscribe: ignore,
  clear: ignore,
};

/** Inserts the variables of the theme: once, and not for each component that is shown. */
function insertVariables(): void {
  const style = document.createElement("style");
  style.nonce = styleNonce();
  style.textContent = convertCssVariables(
    defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme)),
    ":root",
  );
  document.head.append(style);
}
insertVariables();

/**
 * What Mantine's components need around them. It is part of the components that use them, which are loaded when they are
 * first shown, so that a page is shown without Mantine.
 */
export const Mantine = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <MantineProvider
    theme={theme}
    forceColorScheme={useShownColorScheme()}
    colorSchemeManager={COLOR_SCHEMES}
    getStyleNonce={styleNonce}
    withCssVariables={false}
    withGlobalClasses={false}
  >
    {children}
  </MantineProvider>
);
