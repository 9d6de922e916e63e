import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { ApiFailure } from "../../client/api.ts";
import { wipeDataOfOthers } from "../api/local-data.ts";
import { useMe } from "../api/me.ts";
import { queryClient } from "../api/query-client.ts";
import { later } from "../components/later.tsx";
import { Toasts } from "../components/toasts.tsx";
import { adoptLanguage } from "../i18n/i18n.ts";
import { ConnectionNotice } from "./connection-notice.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { Pages } from "./pages.tsx";
import { Shell } from "./shell.tsx";
import { StatusPage } from "./status-page.tsx";

/* Most visits have a session. */
const SignedOut = later(async () => (await import("./signed-out.tsx")).SignedOut, {
  texts: ["login"],
  isPage: true,
});

/* The settings of the operator are applied after the page shows what it is about. */
const Customization = later(async () => (await import("./customization.tsx")).Customization, {
  isLast: true,
  isOptional: true,
});

export const App = (): ReactNode => (
  <QueryClientProvider client={queryClient}>
    <ErrorBoundary>
      <Session />
    </ErrorBoundary>
    <Toasts />
    <Customization />
  </QueryClientProvider>
);

/** The pages for a user with a session, otherwise the login. */
function Session(): ReactNode {
  const me = useMe();
  const id = me.data?.id;
  const first = useRef<string>(undefined);
  useEffect(() => {
    if (id === undefined) return;
    first.current ??= id;
    // Another user has signed in with another tab: nothing that was read for the first one may be shown.
    if (first.current !== id) location.reload();
    else void wipeDataOfOthers(id);
  }, [id]);
  const language = me.data?.language ?? undefined;
  useEffect(() => {
    // Without a connection, the texts of the language before stay.
    if (language !== undefined) adoptLanguage(language).catch(() => undefined);
  }, [language]);
  if (me.data !== undefined && !isSessionOver(me.error))
    return (
      <Shell me={me.data}>
        <Pages />
      </Shell>
    );
  if (me.isPending) return null;
  if (isSessionOver(me.error)) return <SignedOut />;
  return (
    <main>
      <ConnectionNotice />
      <StatusPage kind={me.error instanceof ApiFailure ? "failed" : "offline"} />
    </main>
  );
}

const isSessionOver = (error: Error | null): boolean => error instanceof ApiFailure && error.status === 401;
