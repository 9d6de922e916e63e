import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../../../components/button.tsx";
import { useQueryParameters } from "../../../components/query-parameters.ts";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { bodyOf } from "./comment-body.ts";
import { CommentForm, type Written } from "./comment-form.tsx";
import { CommentView } from "./comment-view.tsx";
import classes from "./comments.module.css";
import { reply, setResolved, type Thread, useThreadChange } from "./threads.ts";

interface Props {
  readonly id: string;
  readonly canViewAccesses: boolean;
  readonly thread: Thread;
  readonly quote: string | undefined;
  readonly isChosen: boolean;
}

/** A thread: the text that it is about, its comments, and a field for a reply. */
export function ThreadView({ id, canViewAccesses, thread, quote, isChosen }: Props): ReactNode {
  const { t } = useTranslation();
  const [, , replace] = useQueryParameters();
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) item.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const answer = useThreadChange(id, ({ text, mentions }: Written) =>
    reply(id, thread.id, bodyOf(text, { mentions })),
  );
  const undo = useThreadChange(id, () => setResolved(id, thread.id, thread.resolved));
  const resolve = useThreadChange(
    id,
    () => setResolved(id, thread.id, !thread.resolved),
    () =>
      showToast(t(thread.resolved ? "comments.reopened" : "comments.resolved_toast"), {
        label: t("app.undo"),
        run: () => undo.mutate(),
      }),
  );
  const choose = (): void => {
    replace({ thread: thread.id });
    document
      .querySelector(`[data-editor] [data-bn-thread-id="${thread.id}"]`)
      ?.scrollIntoView({ block: "center" });
  };
  const onDeleted = (): void => {
    showToast(t("comments.deleted"));
    // Its button, which had the focus, is gone, and so is a thread without comments.
    const isGone = thread.comments.length === 1;
    const next = isGone ? item.current?.closest("aside")?.querySelector<HTMLElement>("h2") : item.current;
    next?.focus({ preventScroll: true });
  };
  return (
    <li ref={item} tabIndex={-1} className={classes.thread} data-thread={thread.id} data-chosen={isChosen}>
      {quote !== undefined && (
        <button type="button" className={classes.quote} onClick={choose} dir="auto">
          {quote}
        </button>
      )}
      <ul>
        {thread.comments.map((comment) => (
          <CommentView
            key={comment.id}
            id={id}
            canViewAccesses={canViewAccesses}
            thread={thread}
            comment={comment}
            onDeleted={onDeleted}
          />
        ))}
      </ul>
      {!thread.resolved && (
        <CommentForm
          label={t("comments.reply")}
          submitLabel={t("comments.send")}
          isPending={answer.isPending}
          id={id}
          canViewAccesses={canViewAccesses}
          onSubmit={answer.mutateAsync}
        />
      )}
      {thread.abilities.resolve && (
        <Button
          size="compact-sm"
          variant="default"
          loading={resolve.isPending}
          onClick={() => resolve.mutate()}
        >
          {t(thread.resolved ? "comments.reopen" : "comments.resolve")}
        </Button>
      )}
    </li>
  );
}
