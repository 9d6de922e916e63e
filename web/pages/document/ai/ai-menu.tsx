import { FormattingToolbarExtension, ShowSelectionExtension } from "@blocknote/core/extensions";
import { useExtension } from "@blocknote/react";
import { IconSparkles } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Document } from "../../../api/documents.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { MenuButton } from "../menus/menu-button.tsx";
import type { AiFeatures } from "./ai-features.ts";
import { AiPanel } from "./ai-panel.tsx";
import { AI_ACTIONS, type AiRequest } from "./ask-model.ts";
import { type SelectedContent, selectedContent } from "./selected-content.ts";

const ICON_SIZE = 18;
/** Languages of a translation, by their code for the service. Their names are those of the browser. */
const LANGUAGES = ["en", "fr", "de", "es", "it", "nl", "pt", "pl", "ar", "ja", "zh-hans"] as const;
const SELECTION = "weft-ai";

interface Request {
  readonly content: SelectedContent;
  /** Undefined until the user has written what to do. */
  readonly asked: AiRequest | undefined;
}

interface ButtonProps {
  readonly features: AiFeatures;
  readonly onAsk: (request: Request) => void;
}

/** The button of the toolbar with what the model can do with the selected text. */
export function AiMenuButton({ features, onAsk }: ButtonProps): ReactNode {
  const { t, i18n } = useTranslation();
  const editor = useBlockEditor();
  const ask = (read: (content: SelectedContent) => AiRequest | undefined) => () => {
    const content = selectedContent(editor);
    onAsk({ content, asked: read(content) });
  };
  const names = new Intl.DisplayNames(i18n.language, { type: "language" });
  const actions = features.canTransform
    ? AI_ACTIONS.map((action) => ({
        id: action,
        label: t(`ai.${action}`),
        run: ask(({ markdown }) => ({ kind: "transform", action, text: markdown })),
      }))
    : [];
  const translations = {
    id: "translate",
    label: t("ai.translate"),
    groups: [
      {
        id: "languages",
        entries: LANGUAGES.map((language) => ({
          id: language,
          label: names.of(language) ?? language,
          run: ask(({ html }) => ({ kind: "translate", language, text: html })),
        })),
      },
    ],
  };
  const entries = [
    ...(features.canAsk ? [{ id: "ask", label: t("ai.ask"), run: ask(() => undefined) }] : []),
    ...actions,
    ...(features.canTranslate ? [translations] : []),
  ];
  return (
    <MenuButton label={t("ai.title")} groups={[{ id: "actions", entries }]}>
      <IconSparkles size={ICON_SIZE} stroke={1.75} aria-hidden />
    </MenuButton>
  );
}

interface MenuProps {
  readonly document: Document;
  readonly request: Request;
  readonly onClose: () => void;
}

/** The request about the selected text, which stays marked until it is finished. */
export function AiRequestPanel({ document, request, onClose }: MenuProps): ReactNode {
  const editor = useBlockEditor();
  const { showSelection } = useExtension(ShowSelectionExtension);
  const { store } = useExtension(FormattingToolbarExtension);
  const [asked, setAsked] = useState(request.asked);
  useEffect(() => {
    store.setState(false);
    showSelection(true, SELECTION);
    return () => showSelection(false, SELECTION);
  }, [store, showSelection]);
  return (
    <AiPanel
      id={document.id}
      content={request.content}
      asked={asked}
      onAsk={(instruction) => setAsked({ kind: "ask", instruction, text: request.content.markdown })}
      onClose={() => {
        onClose();
        editor.focus();
      }}
    />
  );
}

export type { Request as OpenAiRequest };
