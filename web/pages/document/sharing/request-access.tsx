import { type ReactNode, useId, useState } from "react";
import { isNotFound } from "../../../api/failures.ts";
import { useMe } from "../../../api/me.ts";
import { Button, ButtonLink } from "../../../components/button.tsx";
import { messageOf } from "../../../components/error-state.tsx";
import { Time } from "../../../components/time.tsx";
import { useWindowTitle } from "../../../components/window-title.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "../../../shell/message-page.module.css";
import { requestAccess, useAccessRequests, useSharingChange } from "./sharing-api.ts";

const ROLES = ["reader", "commenter", "editor"] as const;

interface Props {
  readonly id: string;
}

/** The page of a document that the user may not open: it asks the owner for access. */
export function RequestAccess({ id }: Props): ReactNode {
  const { t } = useTranslation();
  const { data: me } = useMe();
  const [role, setRole] = useState<(typeof ROLES)[number]>("reader");
  const requests = useAccessRequests(id);
  const request = useSharingChange(id, () => requestAccess(id, role));
  const roleId = useId();
  useWindowTitle(t("status.forbidden_title"));
  const own = requests.data?.find(({ user }) => user.id === me?.id);
  return (
    <div className={classes.page}>
      <h1>{t("status.forbidden_title")}</h1>
      {own !== undefined && (
        <>
          <p role="status">
            {t("access.requested", { role: t(`sharing.role_${own.role}`) })} <Time value={own.created_at} />
          </p>
          <ButtonLink href="/">{t("status.home")}</ButtonLink>
        </>
      )}
      {own === undefined && requests.isSuccess && (
        <form
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault();
            request.mutate();
          }}
        >
          <p>{t("access.intro")}</p>
          <label htmlFor={roleId}>{t("access.role")}</label>
          <select
            id={roleId}
            value={role}
            onChange={({ currentTarget }) =>
              setRole(ROLES.find((one) => one === currentTarget.value) ?? "reader")
            }
          >
            {ROLES.map((one) => (
              <option key={one} value={one}>
                {t(`access.role_${one}`)}
              </option>
            ))}
          </select>
          <Button type="submit" loading={request.isPending}>
            {t("access.request")}
          </Button>
          {request.isError && <p role="alert">{messageOf(request.error, t)}</p>}
        </form>
      )}
      {requests.isError && (
        <>
          {/* Only documents at the top level have access requests. */}
          <p>{t(isNotFound(requests.error) ? "access.below" : "status.forbidden")}</p>
          <ButtonLink href="/">{t("status.home")}</ButtonLink>
        </>
      )}
    </div>
  );
}
