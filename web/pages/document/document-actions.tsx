import { useDisclosure } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import { memo, type ReactNode, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { Document } from "../../api/documents.ts";
import { Button } from "../../components/button.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { later } from "../../components/later.tsx";
import { DocumentMenu } from "../../document-menu/load-document-menu.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

const ShareDialog = later(async () => (await import("./sharing/share-dialog.tsx")).ShareDialog);

interface Props {
  readonly document: Document;
}

/** What can be done with a document, at the end of its bar. */
export const DocumentActions = memo(function DocumentActions({ document }: Props): ReactNode {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [, navigate] = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isShared, shared] = useDisclosure(false, { onClose: () => button.current?.focus() });
  return (
    <>
      <DocumentMenu
        document={document}
        isOpen={isMenuOpen}
        onOpenChange={setMenuOpen}
        onGone={() => navigate("/")}
      >
        <IconButton
          size="lg"
          aria-label={t("document.actions")}
          aria-haspopup="menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <IconDots size={18} aria-hidden />
        </IconButton>
      </DocumentMenu>
      <Button ref={button} size="compact-sm" onClick={shared.open}>
        {t("sharing.title")}
      </Button>
      {isShared && <ShareDialog document={document} onClose={shared.close} />}
    </>
  );
});
