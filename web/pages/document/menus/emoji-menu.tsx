import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { type Emoji, findEmojis, loadEmojis } from "../emoji/emojis.ts";
import { SuggestionList } from "./suggestion-list.tsx";
import { type Suggestions, useSuggestions } from "./use-suggestions.ts";

const SHOWN_MAX = 20;
/** Fewer characters after a colon are more often text. */
const QUERY_MIN_LENGTH = 2;

/** The menu of emojis that `:` and two letters open. */
export function EmojiMenu(): ReactNode {
  const suggestions = useSuggestions(":");
  if (suggestions === undefined) return null;
  if (suggestions.query.trim().length < QUERY_MIN_LENGTH && !suggestions.isRequested) return null;
  return <OpenMenu suggestions={suggestions} />;
}

function OpenMenu({ suggestions }: { readonly suggestions: Suggestions }): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const [emojis, setEmojis] = useState<readonly Emoji[]>();
  useEffect(() => {
    void loadEmojis().then(setEmojis);
  }, []);
  const items = findEmojis(emojis ?? [], suggestions.query, SHOWN_MAX).map(({ character, name }) => ({
    id: name,
    group: t("editor.emojis"),
    label: name,
    icon: character,
    run: () => editor.insertInlineContent(character),
  }));
  return (
    <SuggestionList
      suggestions={suggestions}
      label={t("editor.emojis")}
      items={items}
      isLoading={emojis === undefined}
    />
  );
}
