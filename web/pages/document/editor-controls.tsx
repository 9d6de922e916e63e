import { type ReactNode, useState } from "react";
import type { Document } from "../../api/documents.ts";
import { later } from "../../components/later.tsx";
import { useAiFeatures } from "./ai/ai-features.ts";
import type { OpenAiRequest } from "./ai/ai-menu.tsx";
import { CalloutEmoji } from "./emoji/callout-emoji.tsx";
import { BlockHandle } from "./menus/block-handle.tsx";
import { EmojiMenu } from "./menus/emoji-menu.tsx";
import { FilePanel } from "./menus/file-panel.tsx";
import { FormatToolbar } from "./menus/format-toolbar.tsx";
import { LinkToolbar } from "./menus/link-toolbar.tsx";
import { MentionMenu } from "./menus/mention-menu.tsx";
import { SlashMenu } from "./menus/slash-menu.tsx";
import { TableToolbar } from "./menus/table-toolbar.tsx";
import { useAlignmentKeys } from "./menus/use-alignment-keys.ts";

/** Loaded if the installation has a language model. */
const AiMenuButton = later(async () => (await import("./ai/ai-menu.tsx")).AiMenuButton);
const AiRequestPanel = later(async () => (await import("./ai/ai-menu.tsx")).AiRequestPanel);

interface Props {
  readonly document: Document;
  readonly onComment: () => void;
}

/** The menus and toolbars of the editor. */
export function EditorControls({ document, onComment }: Props): ReactNode {
  const { id, abilities } = document;
  const features = useAiFeatures(document);
  const hasAi = features.canAsk || features.canTransform || features.canTranslate;
  const [asked, setAsked] = useState<OpenAiRequest>();
  useAlignmentKeys();
  return (
    <>
      <FormatToolbar onComment={abilities.comment ? onComment : undefined}>
        {hasAi && <AiMenuButton features={features} onAsk={setAsked} />}
      </FormatToolbar>
      {asked !== undefined && (
        <AiRequestPanel document={document} request={asked} onClose={() => setAsked(undefined)} />
      )}
      <CalloutEmoji />
      <LinkToolbar />
      <SlashMenu id={id} canCreateChild={abilities.children_create} />
      <MentionMenu document={document} />
      <EmojiMenu />
      <BlockHandle />
      <FilePanel />
      <TableToolbar />
    </>
  );
}
