import { useDebouncedValue } from "@mantine/hooks";
import { IconFilePlus, IconFileText, IconUser } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Document } from "../../../api/documents.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { matches } from "./filter.ts";
import { type Suggestion, SuggestionList } from "./suggestion-list.tsx";
import { insertInterlink, useCreateChild, useFoundDocuments, usePeople } from "./use-linked-documents.ts";
import { type Suggestions, useSuggestions } from "./use-suggestions.ts";

const ICON_SIZE = 18;
const DEBOUNCE_MS = 150;
const TITLE_MAX_LENGTH = 255;

interface Props {
  readonly document: Document;
}

/** The menu of people and documents that `@` opens. */
export function MentionMenu({ document }: Props): ReactNode {
  const suggestions = useSuggestions("@");
  return suggestions === undefined ? null : <OpenMenu document={document} suggestions={suggestions} />;
}

function OpenMenu({
  document: { id, abilities },
  suggestions,
}: Props & { readonly suggestions: Suggestions }): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const typed = suggestions.query.trim();
  const [query] = useDebouncedValue(typed, DEBOUNCE_MS);
  const found = useFoundDocuments(query);
  const people = usePeople(id, abilities.accesses_view, query);
  const createChild = useCreateChild(id);
  const items: Suggestion[] = [
    ...people.map(({ id: user, name }) => ({
      id: user,
      group: t("editor.people"),
      label: name,
      icon: <IconUser size={ICON_SIZE} stroke={1.75} />,
      run: () => editor.insertInlineContent([{ type: "mention", props: { user, name } }, " "]),
    })),
    ...found.data
      .filter((document) => document.id !== id)
      .map((document) => ({
        id: document.id,
        group: t("editor.documents"),
        label: document.title ?? t("app.untitled"),
        icon: <IconFileText size={ICON_SIZE} stroke={1.75} />,
        run: () => insertInterlink(editor, document),
      })),
  ];
  if (abilities.children_create && query !== "")
    items.push({
      id: "new",
      group: t("editor.documents"),
      label: t("editor.new_child", { title: query }),
      icon: <IconFilePlus size={ICON_SIZE} stroke={1.75} />,
      run: () => createChild(query.slice(0, TITLE_MAX_LENGTH)),
    });
  // Until the answer to what was typed arrives, Enter must not choose something else.
  const isCurrent = query === typed && !found.isFetching;
  return (
    <SuggestionList
      suggestions={suggestions}
      label={t("editor.people_and_documents")}
      items={isCurrent ? items : items.filter(({ label }) => matches(typed, label))}
      isLoading={!isCurrent}
    />
  );
}
