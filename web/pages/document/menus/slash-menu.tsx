import { SuggestionMenu } from "@blocknote/core/extensions";
import { IconAt, IconFilePlus, IconMoodSmile, type TablerIcon } from "@tabler/icons-react";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { BLOCK_TYPE_NAMES, BLOCK_TYPES } from "./block-types.ts";
import { matches } from "./filter.ts";
import { insertBlock } from "./insert-block.ts";
import { type Suggestion, SuggestionList } from "./suggestion-list.tsx";
import { useCreateChild } from "./use-linked-documents.ts";
import { useSuggestions } from "./use-suggestions.ts";

const ICON_SIZE = 18;

interface Props {
  readonly id: string;
  readonly canCreateChild: boolean;
}

/** The menu of blocks that `/` opens. */
export function SlashMenu({ id, canCreateChild }: Props): ReactNode {
  const { t } = useTranslation();
  const suggestions = useSuggestions("/");
  const items = useItems(id, canCreateChild);
  if (suggestions === undefined) return null;
  const shown = items.filter(({ label, aliases }) => matches(suggestions.query, label, aliases));
  return <SuggestionList suggestions={suggestions} label={t("editor.blocks")} items={shown} />;
}

interface Item extends Suggestion {
  readonly aliases: string;
}

function useItems(id: string, canCreateChild: boolean): readonly Item[] {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const createChild = useCreateChild(id);
  return useMemo(() => {
    const blocks = BLOCK_TYPE_NAMES.map((name): Item => {
      const type = BLOCK_TYPES[name];
      return {
        id: name,
        group: t(`editor.group_${type.group}`),
        label: t(`block.${name}`),
        aliases: t(`block.${name}_aliases`),
        icon: <type.icon size={ICON_SIZE} stroke={1.75} />,
        ...("keys" in type ? { keys: type.keys } : {}),
        run: () => insertBlock(editor, name),
      };
    });
    const open = (trigger: string) => () =>
      editor
        .getExtension(SuggestionMenu)
        ?.openSuggestionMenu(trigger, { deleteTriggerCharacter: true, ignoreQueryLength: true });
    const more = (name: "mention" | "emoji" | "child", Icon: TablerIcon, run: () => void, keys?: string) => ({
      id: name,
      group: t("editor.group_insert"),
      label: t(`block.${name}`),
      aliases: t(`block.${name}_aliases`),
      icon: <Icon size={ICON_SIZE} stroke={1.75} />,
      ...(keys === undefined ? {} : { keys }),
      run,
    });
    return [
      ...Map.groupBy(blocks, ({ group }) => group).values(),
      more("mention", IconAt, open("@"), "@"),
      more("emoji", IconMoodSmile, open(":"), ":"),
      canCreateChild ? more("child", IconFilePlus, () => createChild("")) : [],
    ].flat();
  }, [t, editor, canCreateChild, createChild]);
}
