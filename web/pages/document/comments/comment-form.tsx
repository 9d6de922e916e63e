import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { Mentions } from "./comment-body.ts";
import classes from "./comments.module.css";
import { MentionField } from "./mention-field.tsx";

const LENGTH_MAX = 5_000;
const NOBODY: Mentions = new Map();

/** What a user has written. */
export interface Written {
  readonly text: string;
  readonly mentions: Mentions;
}

interface FormProps {
  readonly id: string;
  readonly canViewAccesses: boolean;
  readonly label: string;
  readonly quote?: string;
  readonly isFocused?: boolean;
  /** What is written already. */
  readonly initial?: Written;
  /** What the button says. */
  readonly submitLabel: string;
  readonly isPending: boolean;
  /** Rejects if the comment was not saved; its text then stays. */
  readonly onSubmit: (written: Written) => Promise<unknown>;
  /** Called if the user does not want to write; absent if the field stays. */
  readonly onCancel?: () => void;
}

/** A field for a comment. Ctrl+Enter sends it, `@` mentions somebody. */
export function CommentForm({
  id,
  canViewAccesses,
  label,
  quote = "",
  isFocused = false,
  initial,
  submitLabel,
  isPending,
  onSubmit,
  onCancel,
}: FormProps): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useState(initial?.text ?? "");
  const [mentions, setMentions] = useState(initial?.mentions ?? NOBODY);
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (text.trim() === "" || isPending) return;
    onSubmit({ text: text.trim(), mentions }).then(
      () => {
        // What was typed in the meantime stays.
        setText((current) => (current === text ? "" : current));
        setMentions((current) => (current === mentions ? NOBODY : current));
      },
      // A toast says why.
      () => undefined,
    );
  };
  return (
    <form
      className={classes.form}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (onCancel === undefined || event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        onCancel();
      }}
    >
      {quote !== "" && (
        <p className={classes.quote} dir="auto">
          {quote}
        </p>
      )}
      <MentionField
        id={id}
        canViewAccesses={canViewAccesses}
        label={label}
        maxLength={LENGTH_MAX}
        isFocused={isFocused}
        value={text}
        onChange={setText}
        onMention={({ id: user, name }) => setMentions(new Map(mentions).set(name, user))}
        onSubmit={submit}
      />
      {(text.trim() !== "" || onCancel !== undefined) && (
        <div className={classes.buttons}>
          <Button type="submit" size="compact-sm" loading={isPending} disabled={text.trim() === ""}>
            {submitLabel}
          </Button>
          {onCancel !== undefined && (
            <Button size="compact-sm" variant="default" onClick={onCancel}>
              {t("comments.cancel")}
            </Button>
          )}
        </div>
      )}
    </form>
  );
}
