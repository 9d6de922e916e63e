import { type ReactNode, useRef } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterTabs } from "../../../components/filter-tabs.tsx";
import { useQueryParameters } from "../../../components/query-parameters.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { Mentions } from "./comment-body.ts";
import { CommentForm, type Written } from "./comment-form.tsx";
import classes from "./comments.module.css";
import { ThreadView } from "./thread-view.tsx";
import { type Thread, useThreadChange } from "./threads.ts";
import { useAlignment } from "./use-alignment.ts";
import type { Anchors } from "./use-anchors.ts";

interface Props {
  readonly id: string;
  /** Whether the people of the document may be listed, to mention them. */
  readonly canViewAccesses: boolean;
  readonly threads: readonly Thread[];
  readonly anchors: Anchors;
  /** The text that a new comment is about: the selected one; empty for the document as a whole. */
  readonly quote: string;
  /** Whether the field of a new comment is to be focused. */
  readonly isWriting: boolean;
  /** Whether the threads are beside their texts. */
  readonly isAligned: boolean;
  /** Creates a thread about the selected text. */
  readonly onCreate: (text: string, mentions: Mentions) => Promise<unknown>;
}

/** The threads of a document in the order of its text; those about the document as a whole come last. */
export function CommentsPanel({
  id,
  canViewAccesses,
  threads,
  anchors,
  quote,
  isWriting,
  isAligned,
  onCreate,
}: Props): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const chosen = parameters.get("thread") ?? undefined;
  const isResolved = parameters.get("threads") === "resolved";
  const create = useThreadChange(id, ({ text, mentions }: Written) => onCreate(text, mentions));
  const order = [...anchors.keys()];
  const positionOf = (thread: Thread): number => {
    const position = order.indexOf(thread.id);
    return position < 0 ? order.length : position;
  };
  const shown = threads
    .filter(({ resolved }) => resolved === isResolved)
    .toSorted((one, other) => positionOf(one) - positionOf(other));
  const list = useRef<HTMLUListElement>(null);
  const version = shown.map((thread) => [thread.id, anchors.get(thread.id)].join(" ")).join("\n");
  useAlignment(list, { isEnabled: isAligned, chosen, version });
  return (
    <>
      <div className={classes.tools}>
        <CommentForm
          label={t("comments.new")}
          submitLabel={t("comments.send")}
          quote={quote}
          isFocused={isWriting}
          isPending={create.isPending}
          id={id}
          canViewAccesses={canViewAccesses}
          onSubmit={create.mutateAsync}
        />
        <FilterTabs
          label={t("comments.threads")}
          tabs={[
            { name: t("comments.open"), href: hrefWith({ threads: undefined }), isCurrent: !isResolved },
            { name: t("comments.resolved"), href: hrefWith({ threads: "resolved" }), isCurrent: isResolved },
          ]}
        />
      </div>
      {shown.length === 0 && (
        <EmptyState text={t(isResolved ? "comments.empty_resolved" : "comments.empty")} />
      )}
      <ul ref={list} aria-label={t("comments.threads")} className={classes.threads} data-aligned={isAligned}>
        {shown.map((thread) => (
          <ThreadView
            key={thread.id}
            id={id}
            canViewAccesses={canViewAccesses}
            thread={thread}
            quote={anchors.get(thread.id)}
            isChosen={thread.id === chosen}
          />
        ))}
      </ul>
    </>
  );
}
