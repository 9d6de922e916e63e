import { IconMoodSmile } from "@tabler/icons-react";
import { type ReactNode, useRef, useState } from "react";
import { later } from "../../../components/later.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "../document.module.css";

const EmojiPicker = later(async () => (await import("./emoji-picker.tsx")).EmojiPicker);

const ICON_SIZE = 20;

interface Props {
  /** Empty for a title without one. */
  readonly emoji: string;
  readonly onChange: (emoji: string) => void;
}

/** The emoji of a title, and the way to another one. */
export function TitleEmojiButton({ emoji, onChange }: Props): ReactNode {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const change = (next: string): void => {
    onChange(next);
    close();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={classes.emoji}
        data-empty={emoji === ""}
        aria-label={emoji === "" ? t("emoji.add") : t("emoji.change", { emoji })}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {emoji === "" ? <IconMoodSmile size={ICON_SIZE} stroke={1.75} aria-hidden /> : emoji}
      </button>
      {isOpen && (
        <EmojiPicker
          label={t("emoji.title")}
          rect={() => button.current?.getBoundingClientRect()}
          onChoose={change}
          onRemove={emoji === "" ? undefined : () => change("")}
          onClose={close}
        />
      )}
    </>
  );
}
