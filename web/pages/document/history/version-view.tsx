import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import type * as Y from "yjs";
import { dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { ErrorState, messageOf } from "../../../components/error-state.tsx";
import { useQueryParameters } from "../../../components/query-parameters.ts";
import { Time } from "../../../components/time.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { changesBetween, type Part, type ShownBlock } from "./changes.ts";
import { documentOf, textsOf } from "./document-text.ts";
import classes from "./history.module.css";

/** How often the comparison follows edits of the document at most, milliseconds. */
const FOLLOW_MS = 500;

interface Version {
  readonly content: string;
  readonly last_modified: string;
}

interface Props {
  readonly id: string;
  readonly version: string;
  /** The present content. */
  readonly document: Y.Doc;
  readonly canRestore: boolean;
}

/** What has changed since a version, and a way back to it. */
export function VersionView({ id, version, document, canRestore }: Props): ReactNode {
  const { t } = useTranslation();
  const stored = useQuery({
    queryKey: ["document", id, "versions", version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const params = { path: { id, versionId: version } };
      const response = api.GET("/api/v1.0/documents/{id}/versions/{versionId}", { params, signal });
      const { content, last_modified } = (await dataOf(response)) as unknown as Version;
      return { last_modified, texts: textsOfContent(content) };
    },
  });
  const texts = useTexts(document);
  const before = stored.data?.texts;
  const blocks = useMemo(() => (before === undefined ? [] : changesBetween(before, texts)), [before, texts]);
  if (stored.isError) return <ErrorState error={stored.error} onRetry={() => void stored.refetch()} />;
  if (stored.data === undefined) return null;
  const isSame = blocks.every(({ kind }) => kind === "same" || kind === "skipped");
  return (
    <section aria-label={t("history.changes")}>
      <div className={classes.head}>
        <p>
          {t("history.since")} <Time value={stored.data.last_modified} />
        </p>
        {canRestore && <Restore id={id} version={version} at={stored.data.last_modified} />}
      </div>
      {isSame && <p className={classes.note}>{t("history.same")}</p>}
      <div className={classes.changes}>
        {blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity
          <BlockView key={at} block={block} />
        ))}
      </div>
    </section>
  );
}

/** The texts of a stored content: a Yjs state, or plain text. */
function textsOfContent(content: string): readonly string[] {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  try {
    return textsOf(documentOf(bytes));
  } catch {
    return new TextDecoder().decode(bytes).split("\n");
  }
}

/** The texts of the blocks of a document, also after edits. */
function useTexts(document: Y.Doc): readonly string[] {
  const [texts, setTexts] = useState(() => textsOf(document));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setTexts(textsOf(document));
      }, FOLLOW_MS);
    };
    document.on("update", follow);
    return () => {
      clearTimeout(timer);
      document.off("update", follow);
    };
  }, [document]);
  return texts;
}

function BlockView({ block }: { readonly block: ShownBlock }): ReactNode {
  const { t } = useTranslation();
  if (block.kind === "skipped")
    return <p className={classes.skipped}>{t("history.skipped", { count: block.count })}</p>;
  return (
    <p className={classes.block} data-change={block.kind} dir="auto">
      {block.parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity
        <PartView key={at} part={part} />
      ))}
    </p>
  );
}

function PartView({ part: { kind, text } }: { readonly part: Part }): ReactNode {
  if (kind === "added") return <ins>{text}</ins>;
  return kind === "removed" ? <del>{text}</del> : text;
}

interface RestoreProps {
  readonly id: string;
  readonly version: string;
  readonly at: string;
}

/** Sets the text back, after a question. */
function Restore({ id, version, at }: RestoreProps): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure();
  const [, , replace] = useQueryParameters();
  const restore = useMutation({
    mutationFn: () =>
      api.POST("/api/v1.0/documents/{id}/versions/{versionId}/restore", {
        params: { path: { id, versionId: version } },
      }),
    onSuccess: () => {
      question.close();
      replace({ version: undefined });
      showToast(t("history.restored"));
      void client.invalidateQueries({ queryKey: ["document", id] });
    },
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  });
  return (
    <>
      <Button size="compact-sm" onClick={question.open}>
        {t("history.restore")}
      </Button>
      <Dialog isOpen={isAsking} onClose={question.close} title={t("history.restore_title")}>
        <p className={classes.question}>
          {t("history.restore_question")} <Time value={at} />.
        </p>
        <div className={classes.answers}>
          <Button variant="default" onClick={question.close}>
            {t("history.cancel")}
          </Button>
          <Button data-autofocus loading={restore.isPending} onClick={() => restore.mutate()}>
            {t("history.restore")}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
