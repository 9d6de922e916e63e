import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { type Document, documentPath } from "../../../api/documents.ts";
import { useMe } from "../../../api/me.ts";
import { Button } from "../../../components/button.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { IconButton } from "../../../components/icon-button.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useOptimisticChange } from "../../../components/use-optimistic-change.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { RoleField } from "./role-field.tsx";
import classes from "./sharing.module.css";
import {
  type Access,
  type AccessRequest,
  acceptRequest,
  addAccess,
  type Invitation,
  invite,
  ROLES,
  type Role,
  refuseRequest,
  removeAccess,
  removeInvitation,
  setInvitationRole,
  setRole,
  useRemoval,
  useSharingChange,
} from "./sharing-api.ts";

const ICON_SIZE = 16;

/** What somebody is called; a user who sees little of others sees no address. */
function whoIs(
  { user, team }: Pick<Access, "user" | "team">,
  t: TFunction,
): { readonly name: string; readonly email: string | undefined } {
  if (user === null) return { name: team ?? t("sharing.somebody"), email: undefined };
  const email = "email" in user && user.email !== null ? user.email : undefined;
  if (user.full_name === "") return { name: email ?? t("sharing.somebody"), email: undefined };
  return { name: user.full_name, email };
}

interface RemoveProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly onClick: () => void;
}

const RemoveButton = ({ label, isPending, onClick }: RemoveProps): ReactNode => (
  <IconButton size="lg" aria-label={label} loading={isPending} onClick={onClick}>
    <IconX size={ICON_SIZE} aria-hidden />
  </IconButton>
);

interface WhoProps {
  readonly name: string;
  readonly note?: ReactNode;
}

const Who = ({ name, note }: WhoProps): ReactNode => (
  <div className={classes.who}>
    <span dir="auto">{name}</span>
    {note !== undefined && <span className={classes.note}>{note}</span>}
  </div>
);

interface AccessProps {
  readonly id: string;
  readonly access: Access;
}

/** Somebody with an access to the document itself. A removal can be undone. */
export function AccessRow({ id, access }: AccessProps): ReactNode {
  const { t } = useTranslation();
  const { data: me } = useMe();
  const { name, email } = whoIs(access, t);
  const change = useSharingChange(id, (next: Role) => setRole(id, access.id, next));
  const [role, changeRole] = useOptimisticChange(access.role, change.mutateAsync);
  const remove = useRemoval(id, name, {
    remove: () => removeAccess(id, access.id),
    restore: () => addAccess(id, grantOf(access)),
  });
  // With an own access goes the right to undo its removal.
  const isOwn = me !== undefined && access.user !== null && "id" in access.user && access.user.id === me.id;
  return (
    <li className={classes.row}>
      <Who name={isOwn ? t("sharing.you", { name }) : name} note={email} />
      <RoleField
        label={t("sharing.role_of", { name })}
        value={role}
        options={access.abilities.update ? access.abilities.set_role_to : []}
        onChange={changeRole}
      />
      {access.abilities.destroy && !isOwn && (
        <RemoveButton
          label={t("sharing.remove", { name })}
          isPending={remove.isPending}
          onClick={() => remove.mutate()}
        />
      )}
      <FormProblem error={change.error ?? remove.error} />
    </li>
  );
}

/** What gives the same access again. */
function grantOf({ user, team, role }: Access): Parameters<typeof addAccess>[1] {
  if (user !== null && "id" in user) return { user_id: user.id, role };
  return team === null ? { role } : { team, role };
}

interface InvitationProps {
  readonly id: string;
  readonly document: Document;
  readonly invitation: Invitation;
}

export function InvitationRow({ id, document, invitation }: InvitationProps): ReactNode {
  const { t } = useTranslation();
  const { email, role } = invitation;
  const change = useSharingChange(id, (next: Role) => setInvitationRole(id, invitation.id, next));
  const [shownRole, changeRole] = useOptimisticChange(role, change.mutateAsync);
  const remove = useRemoval(id, email, {
    remove: () => removeInvitation(id, invitation.id),
    restore: () => invite(id, { email, role }),
  });
  return (
    <li className={classes.row}>
      <Who name={email} note={t("sharing.invited")} />
      <RoleField
        label={t("sharing.role_of", { name: email })}
        value={shownRole}
        options={invitation.abilities.update ? grantableRoles(document) : []}
        onChange={changeRole}
      />
      {invitation.abilities.destroy && (
        <RemoveButton
          label={t("sharing.remove", { name: email })}
          isPending={remove.isPending}
          onClick={() => remove.mutate()}
        />
      )}
      <FormProblem error={change.error ?? remove.error} />
    </li>
  );
}

/** The roles that the user may give to others. */
export const grantableRoles = ({ abilities }: Document): readonly Role[] =>
  ROLES.filter((role) => role !== "owner" || abilities.invite_owner);

interface RequestProps {
  readonly id: string;
  readonly request: AccessRequest;
}

/** Somebody who asks for access. The role is a proposal. */
export function RequestRow({ id, request }: RequestProps): ReactNode {
  const { t } = useTranslation();
  const [role, choose] = useState<Role>(request.role);
  const { name, email } = whoIs({ user: request.user, team: null }, t);
  const accept = useSharingChange(id, () => acceptRequest(id, request.id, role), {
    onDone: () => showToast(t("sharing.accepted", { name })),
  });
  const refuse = useSharingChange(id, () => refuseRequest(id, request.id), {
    onDone: () => showToast(t("sharing.refused", { name })),
  });
  return (
    <li className={classes.row}>
      <Who name={name} note={email} />
      <RoleField
        label={t("sharing.role_of", { name })}
        value={role}
        options={request.abilities.set_role_to}
        onChange={choose}
      />
      <Button size="compact-sm" loading={accept.isPending} onClick={() => accept.mutate()}>
        {t("sharing.accept")}
      </Button>
      <Button size="compact-sm" variant="default" loading={refuse.isPending} onClick={() => refuse.mutate()}>
        {t("sharing.refuse")}
      </Button>
      <FormProblem error={accept.error ?? refuse.error} />
    </li>
  );
}

/** Somebody who has access to a document above, and therefore to this one. It is changed there. */
export function InheritedRow({ access }: Pick<AccessProps, "access">): ReactNode {
  const { t } = useTranslation();
  const { id } = access.document;
  const above = useQuery({
    queryKey: ["document", id],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/documents/{id}", { params: { path: { id } }, signal })),
  });
  const title = above.data?.title ?? t("app.untitled");
  return (
    <li className={classes.row}>
      <Who
        name={whoIs(access, t).name}
        note={
          <>
            {t("sharing.from")}{" "}
            <Link href={documentPath({ id, title: above.data?.title ?? null })}>{title}</Link>
          </>
        }
      />
      <span>{t(`sharing.role_${access.role}`)}</span>
    </li>
  );
}
