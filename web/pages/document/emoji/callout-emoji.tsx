import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { CALLOUT_EMOJI_EVENT } from "../blocks/callout.ts";
import { useBlockEditor } from "../document-schema.ts";
import { EmojiPicker } from "./emoji-picker.tsx";

/** Lets the user choose the emoji of a callout after a click on it. */
export function CalloutEmoji(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const [id, setId] = useState<string>();
  useEffect(() => {
    const element = editor.domElement;
    const onEvent = (event: Event): void => setId((event as CustomEvent<string>).detail);
    element?.addEventListener(CALLOUT_EMOJI_EVENT, onEvent);
    return () => element?.removeEventListener(CALLOUT_EMOJI_EVENT, onEvent);
  }, [editor]);
  if (id === undefined) return null;
  const close = (): void => {
    setId(undefined);
    editor.focus();
  };
  return (
    <EmojiPicker
      label={t("emoji.callout")}
      rect={() =>
        editor.domElement
          ?.querySelector(`[data-id="${CSS.escape(id)}"] .callout-emoji`)
          ?.getBoundingClientRect()
      }
      onChoose={(emoji) => {
        if (editor.getBlock(id) !== undefined) editor.updateBlock(id, { type: "callout", props: { emoji } });
        close();
      }}
      onClose={close}
    />
  );
}
