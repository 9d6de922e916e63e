import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type * as Y from "yjs";
import { ApiFailure } from "../../../client/api.ts";
import { type Document, documentIdOf, useDocument } from "../../api/documents.ts";
import { refusalOf } from "../../api/failures.ts";
import { useMe } from "../../api/me.ts";
import { Button } from "../../components/button.tsx";
import { useCopy } from "../../components/copy-text.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { later } from "../../components/later.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useBusy } from "../../components/rest.ts";
import { RestoreButton } from "../../components/restore-button.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useLeaveWarning } from "../../components/use-leave-warning.ts";
import { useWindowTitle } from "../../components/window-title.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import classes from "./document.module.css";
import { DocumentActions } from "./document-actions.tsx";
import { DocumentBar } from "./document-bar.tsx";
import { DocumentPanel, PanelButtons, usePanel } from "./document-panel.tsx";
import { DocumentTitle } from "./document-title.tsx";
import { type DocumentEditor, Editor } from "./editor.tsx";
import { textsOf } from "./history/document-text.ts";
import { deleteLocalCopies, readLocalRecord } from "./local-copy.ts";
import { PresentButton } from "./presenter/present-button.tsx";
import { RequestAccess } from "./sharing/request-access.tsx";
import { useBlockTarget } from "./use-block-target.ts";
import { useCollaboration } from "./use-collaboration.ts";
import { useInactivity } from "./use-inactivity.ts";
import { useTitle } from "./use-title.ts";
import { useTitleAnnouncement } from "./use-title-announcement.ts";

const VersionView = later(async () => (await import("./history/version-view.tsx")).VersionView);

interface Props {
  /** The last part of the address: the id, and words of the title. */
  readonly name: string;
}

/** A document: its title and its text, which everybody who has it open edits together. */
export function DocumentPage({ name }: Props): ReactNode {
  const id = documentIdOf(name);
  const document = useDocument(name);
  const { data: me } = useMe();
  const user = me?.id ?? "";
  const refusal = refusalOf(document.error);
  useEffect(() => {
    if (refusal !== undefined && id !== undefined) void deleteLocalCopies(user, id);
  }, [refusal, user, id]);
  // Without a connection, the copy on this device is opened.
  const isUnreachable = document.isError && !(document.error instanceof ApiFailure);
  const local = useQuery({
    queryKey: ["local-document", user, id],
    enabled: isUnreachable && id !== undefined,
    queryFn: () => readLocalRecord(user, id ?? ""),
  });
  if (id === undefined || refusal === "missing") return <StatusPage kind="missing" />;
  if (refusal === "forbidden") return <RequestAccess id={id} />;
  const shown = document.data ?? (isUnreachable ? local.data : undefined);
  if (shown != null && shown.deleted_at !== null) return <DeletedDocument document={shown} />;
  if (shown != null) return <OpenDocument document={shown} user={user} />;
  if (document.isPending || local.isLoading) return null;
  return <ErrorState error={document.error} onRetry={() => void document.refetch()} />;
}

/** A document in the trash, which nobody can edit. */
function DeletedDocument({ document }: { readonly document: Document }): ReactNode {
  const { t } = useTranslation();
  const title = document.title ?? t("app.untitled");
  useWindowTitle(title);
  return (
    <article className={classes.page}>
      <h1 className={classes.title}>{title}</h1>
      <p className={classes.notice}>{t("document.in_trash")}</p>
      {document.abilities.restore && <RestoreButton document={document} />}
    </article>
  );
}

interface OpenProps {
  readonly document: Document;
  readonly user: string;
}

function OpenDocument({ document, user }: OpenProps): ReactNode {
  const { t } = useTranslation();
  // A replaced content has another generation: it is opened as a new one.
  const [opened, setOpened] = useState(0);
  useWindowTitle(document.title ?? t("app.untitled"));
  const [unsent, setUnsent] = useState("");
  const onReplaced = (content: Y.Doc, unsynced: number): void => {
    if (unsynced > 0) setUnsent(textsOf(content).join("\n"));
    else showToast(t("document.replaced"));
    setOpened((count) => count + 1);
  };
  return (
    <>
      {unsent !== "" && <UnsentText text={unsent} onDismiss={() => setUnsent("")} />}
      <CollaborativeDocument key={opened} document={document} user={user} onReplaced={onReplaced} />
    </>
  );
}

interface UnsentProps {
  readonly text: string;
  readonly onDismiss: () => void;
}

/** Offers the text of a content that was replaced before its changes were sent. */
function UnsentText({ text, onDismiss }: UnsentProps): ReactNode {
  const { t } = useTranslation();
  useLeaveWarning(true);
  const copy = useCopy();
  return (
    <div role="alert" className={classes.unsent}>
      <p>{t("document.replaced_unsent")}</p>
      <Button size="compact-sm" onClick={() => void copy(text)}>
        {t("document.copy_unsent")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={onDismiss}>
        {t("document.dismiss_unsent")}
      </Button>
    </div>
  );
}

interface CollaborativeProps extends OpenProps {
  readonly onReplaced: (content: Y.Doc, unsynced: number) => void;
}

function CollaborativeDocument({ document, user, onReplaced }: CollaborativeProps): ReactNode {
  const { t } = useTranslation();
  const collaboration = useCollaboration({ record: document, user, onReplaced });
  useInactivity(collaboration?.provider);
  const title = useTitle(document, useTitleAnnouncement(document.id, collaboration?.provider.awareness));
  const [editor, setEditor] = useState<DocumentEditor>();
  const [parameters] = useQueryParameters();
  const version = parameters.get("version");
  const panel = usePanel();
  useBlockTarget(editor !== undefined);
  const canEdit = document.abilities.partial_update;
  const client = useQueryClient();
  const isForbidden = collaboration?.state.isForbidden === true;
  useEffect(() => {
    // Nothing else on the page may show the document, either.
    if (!isForbidden) return;
    void client.resetQueries({ queryKey: ["documents"] });
    void client.invalidateQueries({ queryKey: ["document"] });
  }, [isForbidden, client]);
  useBusy(!isForbidden && editor === undefined);
  if (isForbidden) return <RequestAccess id={document.id} />;
  const isShown = collaboration?.state.isSynced === true || collaboration?.state.isLocal === true;
  return (
    <div className={classes.layout} data-panel={panel.name}>
      <div>
        <DocumentBar state={collaboration?.state} title={title} provider={collaboration?.provider}>
          {editor !== undefined && <PresentButton document={document} editor={editor.blocks} />}
          <PanelButtons document={document} panel={panel} />
          <DocumentActions document={document} />
        </DocumentBar>
        <article className={classes.page}>
          <DocumentTitle title={title} canEdit={canEdit} />
          {isShown && version !== null && document.abilities.versions_retrieve && (
            <VersionView
              id={document.id}
              version={version}
              document={collaboration.document}
              canRestore={canEdit && document.abilities.content_patch}
            />
          )}
          {isShown && (
            <div hidden={version !== null}>
              <Editor
                document={document}
                provider={collaboration.provider}
                canEdit={canEdit && !collaboration.state.isReadOnly}
                onComment={panel.startComment}
                onEditor={setEditor}
              />
            </div>
          )}
          {!isShown && (
            <p role="status" className={classes.opening}>
              {t("document.opening")}
            </p>
          )}
        </article>
      </div>
      {isShown && (
        <DocumentPanel
          document={document}
          content={collaboration.document}
          editor={editor}
          canMark={canEdit && !collaboration.state.isReadOnly}
          panel={panel}
        />
      )}
    </div>
  );
}
