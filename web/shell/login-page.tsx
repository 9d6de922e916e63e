import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { isNotFound } from "../api/failures.ts";
import { Button } from "../components/button.tsx";
import { messageOf } from "../components/error-state.tsx";
import { useWindowTitle } from "../components/window-title.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { beginLogin } from "./begin-login.ts";
import { Brand } from "./brand.tsx";
import { Footer } from "./footer.tsx";
import classes from "./message-page.module.css";

interface Props {
  /** Whether the page says first what this is. */
  readonly isHome?: boolean;
}

/** The login; as the home page, below what the product is for. */
export function LoginPage({ isHome = false }: Props): ReactNode {
  const { t } = useTranslation();
  useWindowTitle(t(isHome ? "login.home_title" : "login.title"));
  return (
    <main className={classes.page}>
      {isHome ? (
        <>
          <Brand />
          <h1>{t("login.home_title")}</h1>
          <ul className={classes.points}>
            <li>{t("login.home_documents")}</li>
            <li>{t("login.home_workflows")}</li>
            <li>{t("login.home_events")}</li>
          </ul>
          <Link href="/guide/tour">{t("app.guide")}</Link>
          <h2>{t("login.title")}</h2>
        </>
      ) : (
        <h1>{t("login.title")}</h1>
      )}
      <p>{t("login.intro")}</p>
      <LoginForm />
      <Footer />
    </main>
  );
}

function LoginForm(): ReactNode {
  const { t } = useTranslation();
  const login = useMutation({ mutationFn: () => beginLogin() });
  return (
    <>
      <Button onClick={() => login.mutate()} loading={login.isPending}>
        {t("login.button")}
      </Button>
      <p role="alert" className={classes.failure}>
        {/* Without an identity provider, the endpoint does not exist. */}
        {login.isError && (isNotFound(login.error) ? t("login.no_provider") : messageOf(login.error, t))}
      </p>
      <p>{t("login.link")}</p>
      <code className={classes.command}>npx weft open</code>
    </>
  );
}
