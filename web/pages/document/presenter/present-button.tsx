import { IconPresentation } from "@tabler/icons-react";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Document } from "../../../api/documents.ts";
import { IconButton } from "../../../components/icon-button.tsx";
import { later } from "../../../components/later.tsx";
import type { BlockEditor } from "../document-schema.ts";

const Presenter = later(async () => (await import("./presenter.tsx")).Presenter);

const ICON_SIZE = 18;

interface Props {
  readonly document: Document;
  readonly editor: BlockEditor;
}

/** Shows the document as slides. */
export function PresentButton({ document, editor }: Props): ReactNode {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => {
    setOpen(false);
    button.current?.focus();
  }, []);
  return (
    <>
      <IconButton ref={button} size="lg" aria-label={t("presenter.open")} onClick={() => setOpen(true)}>
        <IconPresentation size={ICON_SIZE} stroke={1.75} aria-hidden />
      </IconButton>
      {isOpen && <Presenter document={document} editor={editor} onClose={close} />}
    </>
  );
}
