import type { ReactNode } from "react";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./document.module.css";
import { joinTitle, splitTitle } from "./emoji/title-emoji.ts";
import { TitleEmojiButton } from "./emoji/title-emoji-button.tsx";
import type { Title } from "./use-title.ts";

const LENGTH_MAX = 255;

interface Props {
  readonly title: Title;
  readonly canEdit: boolean;
}

/** The title, which is edited in place. */
export function DocumentTitle({ title: { text, setText, leave }, canEdit }: Props): ReactNode {
  const { t } = useTranslation();
  const { emoji, text: words } = splitTitle(text);
  return (
    <div className={classes.title}>
      {canEdit && <TitleEmojiButton emoji={emoji} onChange={(next) => setText(joinTitle(next, words))} />}
      <h1>
        {canEdit ? (
          <textarea
            rows={1}
            dir="auto"
            aria-label={t("document.title_label")}
            placeholder={t("app.untitled")}
            maxLength={LENGTH_MAX - emoji.length - 1}
            value={words}
            // biome-ignore lint/a11y/noAutofocus: a new document begins with its title
            autoFocus={text === ""}
            onChange={({ currentTarget }) =>
              setText(joinTitle(emoji, currentTarget.value.replaceAll("\n", " ")))
            }
            onBlur={leave}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== "ArrowDown") return;
              event.preventDefault();
              document.querySelector<HTMLElement>("[data-editor] [contenteditable]")?.focus();
            }}
          />
        ) : (
          <span dir="auto">{text === "" ? t("app.untitled") : text}</span>
        )}
      </h1>
    </div>
  );
}
