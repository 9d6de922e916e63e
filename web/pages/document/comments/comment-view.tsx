import { useDisclosure } from "@mantine/hooks";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "../../../components/icon-button.tsx";
import { later } from "../../../components/later.tsx";
import { Time } from "../../../components/time.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { bodyOf, textOfBody, writtenOf } from "./comment-body.ts";
import { CommentForm, type Written } from "./comment-form.tsx";
import classes from "./comments.module.css";
import {
  type Comment,
  deleteComment,
  deleteThread,
  type Thread,
  toggleReaction,
  updateComment,
  useThreadChange,
} from "./threads.ts";

const ConfirmDialog = later(
  async () => (await import("../../../components/confirm-dialog.tsx")).ConfirmDialog,
);

const ICON_SIZE = 16;
const EMOJIS = ["👍", "❤️", "🎉", "😄", "👀"];

interface Props {
  readonly id: string;
  readonly canViewAccesses: boolean;
  readonly thread: Thread;
  readonly comment: Comment;
  /** Called when the comment, or its thread with it, has been deleted. */
  readonly onDeleted: () => void;
}

/** A comment with its reactions. Its author edits and deletes it in its place. */
export function CommentView({ id, canViewAccesses, thread, comment, onDeleted }: Props): ReactNode {
  const { t } = useTranslation();
  const [isEditing, editing] = useDisclosure();
  const editButton = useRef<HTMLButtonElement>(null);
  const { text, quote, mentions } = writtenOf(comment.body);
  const edit = useThreadChange(
    id,
    (next: Written) =>
      updateComment(id, thread.id, comment.id, bodyOf(next.text, { quote, mentions: next.mentions })),
    editing.close,
  );
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const react = useThreadChange(id, (emoji: string) => toggleReaction(id, thread.id, comment.id, emoji));
  const used = comment.reactions.map(({ emoji }) => emoji);
  return (
    <li className={classes.comment}>
      <div className={classes.by}>
        <strong dir="auto">{comment.user?.full_name || t("sharing.somebody")}</strong>
        <Time value={comment.created_at} />
        {comment.updated_at !== comment.created_at && (
          <span className={classes.edited}>{t("comments.edited")}</span>
        )}
        <span className={classes.actions}>
          {comment.abilities.update && !isEditing && (
            <IconButton ref={editButton} aria-label={t("comments.edit")} onClick={editing.open}>
              <IconPencil size={ICON_SIZE} stroke={1.75} aria-hidden />
            </IconButton>
          )}
          {comment.abilities.destroy && (
            <DeleteButton id={id} thread={thread} comment={comment} onDeleted={onDeleted} />
          )}
        </span>
      </div>
      {isEditing ? (
        <CommentForm
          id={id}
          canViewAccesses={canViewAccesses}
          label={t("comments.edit")}
          quote={quote}
          isFocused
          initial={{ text, mentions }}
          submitLabel={t("comments.save")}
          isPending={edit.isPending}
          onSubmit={edit.mutateAsync}
          onCancel={editing.close}
        />
      ) : (
        <p dir="auto">{textOfBody(comment.body)}</p>
      )}
      {(used.length > 0 || comment.abilities.reactions) && (
        <div className={classes.reactions}>
          {comment.reactions.map(({ emoji, users }) => (
            <button
              key={emoji}
              type="button"
              title={users.map(({ full_name }) => full_name).join(", ")}
              aria-label={t("comments.reaction", { emoji, count: users.length })}
              disabled={!comment.abilities.reactions || react.isPending}
              onClick={() => react.mutate(emoji)}
            >
              {emoji} {users.length}
            </button>
          ))}
          {comment.abilities.reactions &&
            EMOJIS.filter((emoji) => !used.includes(emoji)).map((emoji) => (
              <button
                key={emoji}
                type="button"
                className={classes.unused}
                aria-label={t("comments.react", { emoji })}
                disabled={react.isPending}
                onClick={() => react.mutate(emoji)}
              >
                {emoji}
              </button>
            ))}
        </div>
      )}
    </li>
  );
}

/** Deletes a comment after a question. A thread without comments is deleted, too. */
function DeleteButton({ id, thread, comment, onDeleted }: Omit<Props, "canViewAccesses">): ReactNode {
  const { t } = useTranslation();
  const [isAsking, asking] = useDisclosure();
  const isLast = thread.comments.length === 1 && thread.abilities.destroy;
  const remove = useThreadChange(
    id,
    () => (isLast ? deleteThread(id, thread.id) : deleteComment(id, thread.id, comment.id)),
    onDeleted,
  );
  return (
    <>
      <IconButton aria-label={t("comments.delete")} onClick={asking.open}>
        <IconTrash size={ICON_SIZE} stroke={1.75} aria-hidden />
      </IconButton>
      {isAsking && (
        <ConfirmDialog
          title={t("comments.delete_title")}
          cancel={t("comments.cancel")}
          confirm={t("comments.delete_confirm")}
          isPending={remove.isPending}
          onCancel={asking.close}
          onConfirm={() => remove.mutate(undefined, { onSettled: asking.close })}
        >
          <p>{t(isLast ? "comments.delete_last" : "comments.delete_question")}</p>
          <p className={classes.quote} dir="auto">
            {textOfBody(comment.body)}
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
