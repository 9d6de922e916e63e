import { IconPresentation } from "@tabler/icons-react";
import { memo, type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import type { Document } from "../../../api/documents.ts";
import { IconButton } from "../../../components/icon-button.tsx";
import { later } from "../../../components/later.tsx";
import { pageOf, useQueryParameters } from "../../../components/query-parameters.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { BlockEditor } from "../document-schema.ts";
import { PRESENT_EVENT } from "./present-from.ts";
import { slideAt } from "./slides.ts";

const Presenter = later(async () => (await import("./presenter.tsx")).Presenter);

const ICON_SIZE = 18;

interface Props {
  readonly document: Document;
  readonly editor: BlockEditor;
}

/** Shows the document as slides. The address has the number of the slide, from 1. */
export const PresentButton = memo(function PresentButton({ document, editor }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [parameters, hrefWith, replace] = useQueryParameters();
  const button = useRef<HTMLButtonElement>(null);
  const isOpen = parameters.has("slide");
  const wasOpen = useRef(isOpen);
  const isFromText = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !isOpen) {
      if (isFromText.current) editor.focus();
      else button.current?.focus();
      isFromText.current = false;
    }
    wasOpen.current = isOpen;
  }, [isOpen, editor]);
  usePresentKeys(editor, (block) => {
    isFromText.current = block !== undefined;
    navigate(hrefWith({ slide: String(block === undefined ? 1 : slideAt(editor.document, block)) }));
  });
  return (
    <>
      <IconButton
        ref={button}
        size="lg"
        aria-label={t("presenter.open")}
        title={`${t("presenter.open")} (Ctrl+Alt+P)`}
        onClick={() => navigate(hrefWith({ slide: "1" }))}
      >
        <IconPresentation size={ICON_SIZE} stroke={1.75} aria-hidden />
      </IconButton>
      {isOpen && (
        <Presenter
          document={document}
          editor={editor}
          number={pageOf(parameters, "slide")}
          onShow={(number) => replace({ slide: String(number) })}
          onClose={() => replace({ slide: undefined })}
        />
      )}
    </>
  );
});

/** Ctrl+Alt+P presents the document: in its text from the cursor's block on. The menu of a block does so, too. */
function usePresentKeys(editor: BlockEditor, present: (block: string | undefined) => void): void {
  const latest = useRef(present);
  latest.current = present;
  useEffect(() => {
    const element = editor.domElement;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || !event.altKey || event.key.toLowerCase() !== "p") return;
      if (document.querySelector("[role='dialog'], dialog[open]") !== null) return;
      event.preventDefault();
      latest.current(editor.isFocused() ? editor.getTextCursorPosition().block.id : undefined);
    };
    const onPresent = (event: Event): void => latest.current((event as CustomEvent<string>).detail);
    document.addEventListener("keydown", onKeyDown);
    element?.addEventListener(PRESENT_EVENT, onPresent);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      element?.removeEventListener(PRESENT_EVENT, onPresent);
    };
  }, [editor]);
}
