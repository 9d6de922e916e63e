import { type ReactNode, useState } from "react";
import { useDocument } from "../api/documents.ts";
import { Button } from "../components/button.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { DocumentPage } from "../pages/document/document-page.tsx";
import { ConnectionNotice } from "./connection-notice.tsx";
import { LoginPage } from "./login-page.tsx";
import { VisitorHeader } from "./visitor-header.tsx";

interface Props {
  /** The last part of a document's address. */
  readonly name: string;
}

/** A document without a session: it is shown if its link is public. Otherwise, and on request, the login. */
export function VisitorPage({ name }: Props): ReactNode {
  const { t } = useTranslation();
  const document = useDocument(name);
  const [isSigningIn, setSigningIn] = useState(false);
  if (document.isPending) return null;
  if (document.data === undefined || isSigningIn) return <LoginPage />;
  return (
    <>
      <VisitorHeader>
        <Button size="compact-sm" variant="default" onClick={() => setSigningIn(true)}>
          {t("login.button")}
        </Button>
      </VisitorHeader>
      <main>
        <ConnectionNotice />
        <DocumentPage name={name} />
      </main>
    </>
  );
}
