import { createRoot } from "react-dom/client";
import { ME_QUERY } from "./api/me.ts";
import { queryClient } from "./api/query-client.ts";
import { startColorScheme } from "./color-scheme.ts";
import { startTranslations } from "./i18n/i18n.ts";
import { shareStyleNonce } from "./nonce.ts";
import { App } from "./shell/app.tsx";
import { preparePage } from "./shell/pages.tsx";

/** How long the shell waits for the code of its page, milliseconds. */
const PAGE_MS = 50;

/** Shows the interface: with its page if that has arrived, too, which then needs not be drawn twice. */
export async function showApp(): Promise<void> {
  shareStyleNonce();
  startColorScheme();
  await startTranslations();
  await queryClient.prefetchQuery(ME_QUERY);
  await Promise.race([preparePage(location), new Promise((resolve) => setTimeout(resolve, PAGE_MS))]);
  createRoot(document.getElementById("root") as HTMLElement).render(<App />);
}
