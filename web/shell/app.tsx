import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Route, Switch } from "wouter";
import { ApiFailure } from "../../client/api.ts";
import { deleteCopies } from "../api/local-data.ts";
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
const LoginPage = later(async () => (await import("./login-page.tsx")).LoginPage, { texts: ["login"] });

/* Few visits are by somebody without a session. */
const VisitorPage = later(async () => (await import("./visitor-page.tsx")).VisitorPage, {
  texts: ["document", "login"],
});

export const App = (): ReactNode => (
  <QueryClientProvider client={queryClient}>
    <ErrorBoundary>
      <Session />
    </ErrorBoundary>
    <Toasts />
  </QueryClientProvider>
);

/** The pages for a user with a session, otherwise the login. */
function Session(): ReactNode {
  const me = useMe();
  const id = me.data?.id;
  useEffect(() => {
    // What another user has left on this device.
    if (id !== undefined) void deleteCopies(({ user }) => user !== id);
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
  if (isSessionOver(me.error))
    return (
      <Switch>
        <Route path="/d/:name">{({ name }) => <VisitorPage name={name} />}</Route>
        <Route>
          <LoginPage />
        </Route>
      </Switch>
    );
  return (
    <main>
      <ConnectionNotice />
      <StatusPage kind={me.error instanceof ApiFailure ? "failed" : "offline"} />
    </main>
  );
}

const isSessionOver = (error: Error | null): boolean => error instanceof ApiFailure && error.status === 401;
