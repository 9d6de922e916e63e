import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiFailure, dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Document } from "../../api/documents.ts";
import { messageOf } from "../../components/error-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

/** Time without a change after which the title is saved, milliseconds. */
const DEBOUNCE_MS = 400;
/** Pause before a request without a response is sent again, milliseconds. */
const RETRY_MS = 2_000;

/** What is known about the shown title. */
export interface TitleState {
  /** Whether it is the stored one. */
  readonly isSaved: boolean;
  /** Why the server does not accept it. */
  readonly refusal: string | undefined;
}

export interface Title extends TitleState {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Called when the field is left: from here on, what others save is shown. */
  readonly leave: () => void;
}

/**
 * The title of a document, which is saved when the typing pauses and when the page is left. It is sent again until the
 * server responds. Each time that it is saved, `onSaved` is called.
 */
export function useTitle({ id, title }: Pick<Document, "id" | "title">, onSaved: () => void): Title {
  const { t } = useTranslation();
  const client = useQueryClient();
  const stored = title ?? "";
  const [typed, setTyped] = useState<string>();
  const { mutate, isPending, error } = useMutation({
    // One after the other: the last title decides.
    scope: { id: `title ${id}` },
    retry: (_failures, failure) => !(failure instanceof ApiFailure),
    retryDelay: RETRY_MS,
    mutationFn: (text: string) =>
      dataOf(
        api.PATCH("/api/v1.0/documents/{id}", {
          params: { path: { id } },
          body: { title: text === "" ? null : text, websocket: true },
        }),
      ),
    onSuccess: (saved) => {
      client.setQueryData(["document", id], saved);
      void client.invalidateQueries({ queryKey: ["documents"] });
      onSaved();
    },
  });
  const send = useRef<() => void>(undefined);
  // Before the timer is cleared by the next effect.
  useEffect(() => () => send.current?.(), []);
  useEffect(() => {
    if (typed === undefined) return;
    const sendTyped = (): void => {
      clearTimeout(timer);
      send.current = undefined;
      mutate(typed.trim());
    };
    const timer = setTimeout(sendTyped, DEBOUNCE_MS);
    send.current = sendTyped;
    return () => {
      clearTimeout(timer);
      if (send.current === sendTyped) send.current = undefined;
    };
  }, [typed, mutate]);
  // The server stores it without spaces at its ends.
  const isSaved = typed === undefined || (typed.trim() === stored && !isPending);
  useEffect(() => {
    if (isSaved && typed === stored) setTyped(undefined);
  }, [isSaved, typed, stored]);
  return {
    text: typed ?? stored,
    setText: setTyped,
    leave: () => setTyped(isSaved ? undefined : typed.trim()),
    isSaved,
    refusal: error instanceof ApiFailure && !isSaved ? messageOf(error, t) : undefined,
  };
}
