import { type ReactNode, useState } from "react";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import { useDocumentChange } from "../api/document-changes.ts";
import type { Document } from "../api/documents.ts";
import { later } from "../components/later.tsx";
import { showToast } from "../components/toasts.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { endsAccesses, isSameTree, moveDocument, type Place } from "./move-document.ts";

const ConfirmDialog = later(async () => (await import("../components/confirm-dialog.tsx")).ConfirmDialog);

interface Move {
  readonly id: string;
  readonly to: Place;
  /** Where the document was, for Undo. */
  readonly from?: Place | undefined;
}

interface Asked extends Move {
  readonly document: Document;
}

/** Moves documents, after a question if the accesses of one would end. The dialog must be rendered. */
export function useMove(): { readonly move: (move: Move) => void; readonly dialog: ReactNode } {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<Asked>();
  const undo = useDocumentChange(({ id, from }: Move) =>
    from === undefined ? Promise.resolve() : moveDocument(id, from),
  );
  const apply = useDocumentChange(
    ({ id, to }: Asked) => moveDocument(id, to),
    (_, { document, ...move }) => {
      setAsked(undefined);
      const canUndo = move.from !== undefined && isSameTree(document, move.to);
      showToast(
        t("move.moved", { title: document.title ?? t("app.untitled") }),
        canUndo ? { label: t("app.undo"), run: () => undo.mutate(move) } : undefined,
      );
    },
  );
  const begin = useDocumentChange(
    async ({ id }: Move) => dataOf(api.GET("/api/v1.0/documents/{id}", { params: { path: { id } } })),
    (document, move) => {
      if (endsAccesses(document, move.to)) setAsked({ ...move, document });
      else apply.mutate({ ...move, document });
    },
  );
  const dialog = asked !== undefined && (
    <ConfirmDialog
      title={t("move.own_accesses_title", { title: asked.document.title ?? t("app.untitled") })}
      cancel={t("move.cancel")}
      confirm={t("move.confirm")}
      isPending={apply.isPending}
      onCancel={() => setAsked(undefined)}
      onConfirm={() => apply.mutate(asked)}
    >
      <p>{t("move.own_accesses")}</p>
    </ConfirmDialog>
  );
  return { move: begin.mutate, dialog };
}
