import "./sharing.css";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Document } from "../../../api/documents.ts";
import { isNotFound } from "../../../api/failures.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { ErrorState } from "../../../components/error-state.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { AddPerson } from "./add-person.tsx";
import { LinkSettings } from "./link-settings.tsx";
import { AccessRow, InheritedRow, InvitationRow, RequestRow } from "./people.tsx";
import classes from "./sharing.module.css";
import { useAccesses, useAccessRequests, useInvitations } from "./sharing-api.ts";

interface Props {
  readonly document: Document;
  readonly onClose: () => void;
}

/** Who has access to a document, from where, and what the user may change about it. */
export function ShareDialog({ document, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <Dialog returnFocus={false} onClose={onClose} title={t("sharing.title")} size="lg">
      <div className={classes.dialog}>
        {document.abilities.accesses_manage && <AddPerson document={document} />}
        {document.abilities.accesses_manage && <Requests document={document} />}
        {document.abilities.accesses_view && <People document={document} />}
        <LinkSettings document={document} />
      </div>
    </Dialog>
  );
}

type PartProps = Pick<Props, "document">;

function Requests({ document }: PartProps): ReactNode {
  const { t } = useTranslation();
  const requests = useAccessRequests(document.id);
  // Only documents at the top level have access requests.
  if (requests.isError && !isNotFound(requests.error))
    return <ErrorState error={requests.error} onRetry={() => void requests.refetch()} />;
  if (requests.data === undefined || requests.data.length === 0) return null;
  return (
    <section aria-label={t("sharing.requests")}>
      <h3>{t("sharing.requests")}</h3>
      <ul>
        {requests.data.map((request) => (
          <RequestRow key={request.id} id={document.id} request={request} />
        ))}
      </ul>
    </section>
  );
}

function People({ document }: PartProps): ReactNode {
  const { t } = useTranslation();
  const { id } = document;
  const accesses = useAccesses(id);
  const invitations = useInvitations(id, document.abilities.accesses_manage);
  if (accesses.isError) return <ErrorState error={accesses.error} onRetry={() => void accesses.refetch()} />;
  const all = accesses.data ?? [];
  const invited = invitations.data ?? [];
  const own = all.filter((access) => access.document.id === id);
  const inherited = all.filter((access) => access.document.id !== id);
  return (
    <>
      <section aria-label={t("sharing.people")} aria-busy={accesses.isPending}>
        <h3>{t("sharing.people")}</h3>
        {own.length === 0 && accesses.isSuccess && <p className={classes.note}>{t("sharing.nobody")}</p>}
        <ul>
          {own.map((access) => (
            <AccessRow key={access.id} id={id} access={access} />
          ))}
          {invited.map((invitation) => (
            <InvitationRow key={invitation.id} id={id} invitation={invitation} document={document} />
          ))}
        </ul>
        {invitations.isError && (
          <ErrorState error={invitations.error} onRetry={() => void invitations.refetch()} />
        )}
        {invited.length > 0 && (
          <p className={classes.note}>
            {t("sharing.invited_hint")}{" "}
            <Link href="/guide/documents-signing-in">{t("sharing.signing_in")}</Link>
          </p>
        )}
      </section>
      {inherited.length > 0 && (
        <section aria-label={t("sharing.inherited")}>
          <h3>{t("sharing.inherited")}</h3>
          <ul>
            {inherited.map((access) => (
              <InheritedRow key={access.id} access={access} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
