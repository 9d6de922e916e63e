import { type ReactNode, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "./menus.module.css";
import { typedUrl } from "./typed-url.ts";

const LENGTH_MAX = 2_000;

interface Props {
  readonly url: string;
  readonly onSubmit: (url: string) => void;
  readonly onCancel: () => void;
}

/** A field for the address of a link. */
export function LinkForm({ url, onSubmit, onCancel }: Props): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useState(url);
  const typed = typedUrl(text);
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== undefined) onSubmit(typed);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onCancel();
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field
        autoFocus
        type="text"
        inputMode="url"
        aria-label={t("editor.link_address")}
        placeholder={t("editor.link_address")}
        maxLength={LENGTH_MAX}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Button type="submit" size="compact-sm" disabled={typed === undefined}>
        {t("editor.save")}
      </Button>
    </form>
  );
}
