import { createExtension, type ExtensionOptions } from "@blocknote/core";
import { CommentMark } from "@blocknote/core/comments";
import { ShowSelectionExtension } from "@blocknote/core/extensions";

/** Key of the extension: the button of the toolbar looks for it. */
const KEY = "comments";

/**
 * Marks of threads in the text. Without them the editor would remove the text that they mark. Unlike the extension of
 * BlockNote, it changes marks only when a thread is created, so that reading a document never edits it.
 */
export const commentsExtension = createExtension(
  ({ editor, options }: ExtensionOptions<{ readonly onStart: () => void }>) => ({
    key: KEY,
    runsBefore: ["link"],
    tiptapExtensions: [CommentMark],
    /** Called by the button of the toolbar. */
    startPendingComment: (): void => {
      editor.getExtension(ShowSelectionExtension)?.showSelection(true, KEY);
      options.onStart();
    },
    /** Ends the highlight of the selection. */
    stopPendingComment: (): void => {
      editor.getExtension(ShowSelectionExtension)?.showSelection(false, KEY);
    },
  }),
);
