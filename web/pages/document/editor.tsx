import "@blocknote/react/style.css";
import { later } from "../../components/later.tsx";
import "./blocks/blocks.css";
import "./blocks/colors.css";
import { CommentMark } from "@blocknote/core/comments";
import { en, fr } from "@blocknote/core/locales";
import { useCreateBlockNote } from "@blocknote/react";
import { memo, type ReactNode, useEffect, useState } from "react";
import type { WeftProvider } from "../../../client/collaboration/weft-provider.ts";
import type { Document } from "../../api/documents.ts";
import { nameOf, useMe } from "../../api/me.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { styleNonce } from "../../nonce.ts";
import { BlockNoteView } from "./block-note-view.tsx";
import { loadedUrl, uploadFile } from "./blocks/attachments.ts";
import { commentsExtension } from "./comments/comments-extension.ts";
import { type BlockEditor, documentSchema } from "./document-schema.ts";
import { FRAGMENT } from "./history/document-text.ts";
import { colorOf, cursorsOfOthers } from "./participants.ts";
import { PlainText } from "./plain-text.tsx";
import { unknownNodes } from "./unknown-nodes.ts";

/** Menus and toolbars are loaded after the text is shown. */
const EditorControls = later(async () => (await import("./editor-controls.tsx")).EditorControls, {
  texts: ["editor"],
});

interface Props {
  readonly document: Document;
  readonly provider: WeftProvider;
  readonly canEdit: boolean;
  /** Called when the user begins a comment about the selection. */
  readonly onComment: () => void;
  readonly onEditor: (editor: DocumentEditor) => void;
}

/** What the rest of the page uses of the editor. */
export interface DocumentEditor {
  readonly blocks: BlockEditor;
  /** The selected text; empty if there is none. */
  readonly selectedText: () => string;
  /** Marks the selected text as what a thread is about. Nothing happens without a selection. */
  readonly markSelection: (thread: string) => void;
  /** Ends the highlight of the selection that a comment is about. */
  readonly endComment: () => void;
  readonly onSelectionChange: (listener: () => void) => () => void;
}

/** The editor, or the text of a document with content that an editor would delete. */
export const Editor = memo(function Editor(props: Props): ReactNode {
  const { doc } = props.provider.awareness;
  const [unknown] = useState(() => unknownNodes(doc.getXmlFragment(FRAGMENT), documentSchema));
  return unknown.length === 0 ? (
    <BlockEditorView {...props} />
  ) : (
    <PlainText content={doc} unknown={unknown} />
  );
});

/** The block editor, with the cursors of the others. */
function BlockEditorView({ document, provider, canEdit, onComment, onEditor }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const { data: me } = useMe();
  const { id, abilities } = document;
  const editor = useCreateBlockNote({
    schema: documentSchema,
    collaboration: {
      fragment: provider.awareness.doc.getXmlFragment(FRAGMENT),
      user: {
        name: me === undefined ? "" : nameOf(me),
        color: colorOf(me?.id ?? ""),
      },
      provider: { awareness: cursorsOfOthers(provider.awareness) },
    },
    dictionary: i18n.language === "fr" ? fr : en,
    domAttributes: { editor: { "aria-label": t("document.editor_label") }, blockContent: { dir: "auto" } },
    resolveFileUrl: async (url) => loadedUrl(id, url),
    ...(abilities.attachment_upload
      ? {
          uploadFile: async (file) => ({ props: { url: await uploadFile(id, file), name: file.name } }),
        }
      : {}),
    extensions: [commentsExtension({ onStart: onComment })],
    _tiptapOptions: { injectNonce: styleNonce() },
  });
  const name = me === undefined ? "" : nameOf(me);
  useEffect(() => {
    // A page that was loaded without a connection learns the name later.
    provider.awareness.setLocalStateField("user", { name, color: colorOf(me?.id ?? "") });
  }, [provider, name, me?.id]);
  useEffect(() => {
    onEditor({
      blocks: editor,
      selectedText: () => editor.getSelectedText(),
      markSelection: (thread) => {
        if (!editor._tiptapEditor.state.selection.empty)
          editor._tiptapEditor.commands.setMark(CommentMark.name, { orphan: false, threadId: thread });
      },
      endComment: () => editor.getExtension(commentsExtension)?.stopPendingComment(),
      onSelectionChange: (listener) => editor.onSelectionChange(listener),
    });
  }, [editor, onEditor]);
  return (
    <div data-editor>
      <BlockNoteView editor={editor} canEdit={canEdit}>
        {canEdit && (
          <EditorControls
            document={document}
            onComment={() => editor.getExtension(commentsExtension)?.startPendingComment()}
          />
        )}
      </BlockNoteView>
    </div>
  );
}
