import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../components/button.tsx";
import { useWindowTitle } from "../components/window-title.ts";
import { Footer } from "./footer.tsx";
import classes from "./message-page.module.css";

/**
 * The identity provider signs the user in, and leads back to the page that they asked for. Rejects if the server has
 * none.
 */
async function beginLogin(): Promise<void> {
  const next = `${location.pathname}${location.search}`;
  const address = `/api/v1.0/authenticate/?next=${encodeURIComponent(next)}`;
  // Asked first, so that an error is shown on this page. A redirect cannot be read, only recognized.
  const { type } = await fetch(address, { redirect: "manual" });
  if (type !== "opaqueredirect") throw new Error("The server has no identity provider");
  location.assign(address);
}

export function LoginPage(): ReactNode {
  const { t } = useTranslation();
  useWindowTitle(t("login.title"));
  const login = useMutation({ mutationFn: beginLogin });
  return (
    <main className={classes.page}>
      <h1>{t("login.title")}</h1>
      <p>{t("login.intro")}</p>
      <Button onClick={() => login.mutate()} loading={login.isPending}>
        {t("login.button")}
      </Button>
      <p role="alert" className={classes.failure}>
        {login.isError ? t("login.no_provider") : ""}
      </p>
      <p>{t("login.link")}</p>
      <code className={classes.command}>npx weft open</code>
      <Footer />
    </main>
  );
}
