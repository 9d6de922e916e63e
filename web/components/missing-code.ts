import i18next from "i18next";
import { noteFailure, noteResponse, onReconnected } from "../api/connection.ts";
import { keepToast } from "./toasts.tsx";

/** Why code was not loaded: no response, a server that has a newer page, or something else. */
export type Cause = "unreachable" | "updated" | "failed";

const TIMEOUT_MS = 5_000;

/** What loads each missing part again. */
const retries = new Set<() => void>();
let hideNotice: (() => void) | undefined;

/** A part of the page whose code could not be loaded. */
interface MissingPart {
  readonly cause: Cause;
  /** Whether it was tried again. */
  readonly isRetry: boolean;
  /** Whether it says itself that it is missing. */
  readonly isPage: boolean;
  readonly retry: () => void;
}

/**
 * Loads a missing part again when the server responds again, and says until then that it is missing, and what to do. It
 * ends when the returned function is called.
 */
export function announceMissing({ cause, isRetry, isPage, retry }: MissingPart): () => void {
  if (!isPage) hideNotice ??= showNotice(cause, isRetry);
  retries.add(retry);
  return () => {
    retries.delete(retry);
    if (retries.size > 0) return;
    hideNotice?.();
    hideNotice = undefined;
  };
}

function showNotice(cause: Cause, isRetry: boolean): () => void {
  const { t } = i18next;
  const text = [t("error.title"), ...(cause === "failed" ? [] : [t(`error.${cause}`)])].join(": ");
  // Some browsers do not request a script again that has failed.
  const isReload = cause === "updated" || (cause === "failed" && isRetry);
  const action = isReload
    ? { label: t("status.reload"), run: () => location.reload() }
    : { label: t("app.retry"), run: retryMissing };
  return keepToast(text, action);
}

function retryMissing(): void {
  for (const retry of retries) retry();
}

onReconnected(retryMissing);

/** Finds out why code was not loaded: a server with a newer page names another first script. */
export async function findCause(): Promise<Cause> {
  const first = document.querySelector("script[src]")?.getAttribute("src") ?? "";
  try {
    const response = await fetch("/", {
      cache: "no-store",
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const page = await response.text();
    noteResponse();
    return response.ok && !page.includes(first) ? "updated" : "failed";
  } catch {
    noteFailure();
    return "unreachable";
  }
}

const missingStyles = new Set<HTMLLinkElement>();
addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") missingStyles.add(target);
  },
  true,
);

/** Loads the style sheets that could not be loaded: Vite requests the style of a script only once. */
export async function loadStylesAgain(): Promise<void> {
  const links = [...missingStyles];
  missingStyles.clear();
  await Promise.all(
    links.map(
      (link) =>
        new Promise((resolve, reject) => {
          const again = link.cloneNode() as HTMLLinkElement;
          again.onload = resolve;
          again.onerror = reject;
          link.replaceWith(again);
        }),
    ),
  );
}
