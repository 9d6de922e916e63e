import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Route, Switch } from "wouter";
import { useConfig } from "../api/config.ts";
import { ButtonLink } from "../components/button.tsx";
import { later } from "../components/later.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { SILENT_LOGIN } from "./begin-login.ts";
import { LoginPage } from "./login-page.tsx";
import { VisitorHeader } from "./visitor-header.tsx";

/* Few visits are of a public document. */
const VisitorPage = later(async () => (await import("./visitor-page.tsx")).VisitorPage, {
  texts: ["document"],
  isPage: true,
});

const GuidePage = later(async () => (await import("../pages/guide/guide-page.tsx")).GuidePage, {
  texts: ["help"],
  isPage: true,
});

/** The pages without a session: guides, documents with a public link, the home page, and the login everywhere else. */
export function SignedOut(): ReactNode {
  const { t } = useTranslation();
  const config = useConfig();
  const isSilent = config.data?.FRONTEND_SILENT_LOGIN_ENABLED === true;
  const { data: isLeaving = true } = useQuery({ ...SILENT_LOGIN, enabled: isSilent });
  if (config.isPending || (isSilent && isLeaving)) return null;
  return (
    <Switch>
      <Route path="/d/:name">{({ name }) => <VisitorPage name={name} />}</Route>
      <Route path="/guide/:name">
        {({ name }) => (
          <>
            <VisitorHeader>
              <ButtonLink href="/" size="compact-sm" variant="default">
                {t("login.button")}
              </ButtonLink>
            </VisitorHeader>
            <main>
              <GuidePage name={name} />
            </main>
          </>
        )}
      </Route>
      <Route path="/">
        <LoginPage isHome={config.data?.FRONTEND_HOMEPAGE_FEATURE_ENABLED === true} />
      </Route>
      <Route>
        <LoginPage />
      </Route>
    </Switch>
  );
}
