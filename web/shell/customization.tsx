import { type ReactNode, useEffect } from "react";
import { useConfig } from "../api/config.ts";
import { useShownColorScheme } from "../components/use-color-scheme.ts";
import { faviconOf } from "./logo-of-theme.ts";
import { ownUrl } from "./theme-fields.ts";

/**
 * Applies the settings of the operator to the page: the name of the theme, for style sheets, the symbol of the tab, and a
 * style sheet and a script of their own. The policy of the page allows no files of other servers. Decision 0220.
 */
export function Customization(): ReactNode {
  const { data: config } = useConfig();
  const scheme = useShownColorScheme();
  const { FRONTEND_THEME: theme, FRONTEND_CSS_URL: css, FRONTEND_JS_URL: script } = config ?? {};
  const favicon = faviconOf(config?.theme_customization, scheme);
  useEffect(() => {
    if (theme) document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  useEffect(() => {
    if (favicon !== undefined) document.querySelector("link[rel='icon']")?.setAttribute("href", favicon);
  }, [favicon]);
  useEffect(() => {
    const href = ownUrl(css);
    if (href !== undefined) addToHead("link", { rel: "stylesheet", href });
  }, [css]);
  useEffect(() => {
    const src = ownUrl(script);
    if (src !== undefined) addToHead("script", { src });
  }, [script]);
  return null;
}

function addToHead(name: "link" | "script", attributes: Readonly<Record<string, string>>): void {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  document.head.append(element);
}
