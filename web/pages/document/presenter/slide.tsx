import { useCreateBlockNote } from "@blocknote/react";
import type { ReactNode } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { styleNonce } from "../../../nonce.ts";
import { BlockNoteView } from "../block-note-view.tsx";
import { loadedUrl } from "../blocks/attachments.ts";
import { documentSchema, type EditorBlock } from "../document-schema.ts";

interface Props {
  /** Id of the document. */
  readonly id: string;
  readonly blocks: readonly EditorBlock[];
}

/** The blocks of a slide, to be read. */
export function Slide({ id, blocks }: Props): ReactNode {
  const { t } = useTranslation();
  const editor = useCreateBlockNote({
    schema: documentSchema,
    initialContent: blocks.length === 0 ? undefined : [...blocks],
    trailingBlock: false,
    domAttributes: { editor: { "aria-label": t("presenter.content") }, blockContent: { dir: "auto" } },
    resolveFileUrl: async (url) => loadedUrl(id, url),
    _tiptapOptions: { injectNonce: styleNonce() },
  });
  return (
    <div data-editor>
      <BlockNoteView editor={editor} canEdit={false} />
    </div>
  );
}
