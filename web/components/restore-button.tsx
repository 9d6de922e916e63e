import type { ReactNode } from "react";
import { restoreDocument, useDocumentChange } from "../api/document-changes.ts";
import type { Document } from "../api/documents.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { Button } from "./button.tsx";
import { showToast } from "./toasts.tsx";

interface Props {
  readonly document: Pick<Document, "id" | "title">;
}

/** Takes a deleted document, with what is below it, out of the trash. */
export function RestoreButton({ document: { id, title } }: Props): ReactNode {
  const { t } = useTranslation();
  const change = useDocumentChange(
    () => restoreDocument(id),
    () => showToast(t("app.restored", { title: title ?? t("app.untitled") })),
  );
  return (
    <Button variant="default" size="compact-sm" loading={change.isPending} onClick={() => change.mutate()}>
      {t("app.restore")}
    </Button>
  );
}
