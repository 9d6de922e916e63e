import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Document } from "../../api/documents.ts";
import { messageOf } from "../../components/error-state.tsx";
import { showToast } from "../../components/toasts.tsx";
import classes from "./document.module.css";
import { joinTitle, splitTitle } from "./emoji/title-emoji.ts";
import { TitleEmojiButton } from "./emoji/title-emoji-button.tsx";

const DEBOUNCE_MS = 400;
const LENGTH_MAX = 255;

interface Props {
  readonly document: Document;
  readonly canEdit: boolean;
  /** Whether the shown title is the stored one. */
  readonly onSavedChange: (isSaved: boolean) => void;
}

/** The title, which is edited in place and saved when the typing pauses. */
export function DocumentTitle({ document: { id, title }, canEdit, onSavedChange }: Props): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const stored = title ?? "";
  const [text, setText] = useState(stored);
  const { mutate: save } = useMutation({
    mutationFn: (newTitle: string) =>
      dataOf(
        api.PATCH("/api/v1.0/documents/{id}", {
          params: { path: { id } },
          body: { title: newTitle === "" ? null : newTitle, websocket: true },
        }),
      ),
    onSuccess: (saved) => {
      client.setQueryData(["document", id], saved);
      void client.invalidateQueries({ queryKey: ["documents"] });
    },
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  });
  const isEdited = useRef(false);
  useEffect(() => {
    if (!isEdited.current) setText(stored);
  }, [stored]);
  const isSaved = text === stored;
  useEffect(() => {
    onSavedChange(isSaved);
    if (isSaved || !isEdited.current) return;
    const timer = setTimeout(() => save(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, isSaved, save, onSavedChange]);
  const { emoji, text: words } = splitTitle(text);
  return (
    <div className={classes.title}>
      {canEdit && (
        <TitleEmojiButton
          emoji={emoji}
          onChange={(next) => {
            const changed = joinTitle(next, words);
            setText(changed);
            save(changed);
          }}
        />
      )}
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
            autoFocus={stored === ""}
            onChange={({ currentTarget }) => {
              isEdited.current = true;
              setText(joinTitle(emoji, currentTarget.value.replaceAll("\n", " ")));
            }}
            onBlur={() => {
              isEdited.current = false;
              if (!isSaved) save(text);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== "ArrowDown") return;
              event.preventDefault();
              document.querySelector<HTMLElement>("[data-editor] [contenteditable]")?.focus();
            }}
          />
        ) : (
          <span dir="auto">{stored === "" ? t("app.untitled") : stored}</span>
        )}
      </h1>
    </div>
  );
}
