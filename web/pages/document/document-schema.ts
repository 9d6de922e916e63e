import {
  BlockNoteSchema,
  createAudioBlockSpec,
  createFileBlockSpec,
  createPageBreakBlockSpec,
  createVideoBlockSpec,
} from "@blocknote/core";
import { useBlockNoteEditor } from "@blocknote/react";
import { callout } from "./blocks/callout.ts";
import { codeBlock } from "./blocks/code-block.ts";
import { image } from "./blocks/image.ts";
import { withMediaState } from "./blocks/media-state.ts";
import { interlink, mention } from "./inline-content.ts";

/** What documents contain. An editor removes content that its schema does not have, for everybody. */
export const documentSchema = BlockNoteSchema.create().extend({
  blockSpecs: {
    audio: withMediaState(createAudioBlockSpec()),
    callout: callout(),
    codeBlock,
    file: withMediaState(createFileBlockSpec()),
    image: withMediaState(image),
    pageBreak: createPageBreakBlockSpec(),
    video: withMediaState(createVideoBlockSpec()),
  },
  inlineContentSpecs: { mention, interlinkingLinkInline: interlink },
});

/** The block editor of a document. */
export type BlockEditor = typeof documentSchema.BlockNoteEditor;
export type EditorBlock = typeof documentSchema.Block;
export type PartialEditorBlock = typeof documentSchema.PartialBlock;

/** The editor around the component. */
export const useBlockEditor = (): BlockEditor =>
  useBlockNoteEditor<
    typeof documentSchema.blockSchema,
    typeof documentSchema.inlineContentSchema,
    typeof documentSchema.styleSchema
  >();
