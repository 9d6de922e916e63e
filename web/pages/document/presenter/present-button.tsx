import { IconPresentation } from "@tabler/icons-react";
import { memo, type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import type { Document } from "../../../api/documents.ts";
import { IconButton } from "../../../components/icon-button.tsx";
import { later } from "../../../components/later.tsx";
import { pageOf, useQueryParameters } from "../../../components/query-parameters.ts";
import type { BlockEditor } from "../document-schema.ts";

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
  useEffect(() => {
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <>
      <IconButton
        ref={button}
        size="lg"
        aria-label={t("presenter.open")}
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
