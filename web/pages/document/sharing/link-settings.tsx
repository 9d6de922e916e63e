import { NativeSelect } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { api } from "../../../api/client.ts";
import { type Document, documentPath } from "../../../api/documents.ts";
import { Button } from "../../../components/button.tsx";
import { useCopy } from "../../../components/copy-text.ts";
import { FormProblem } from "../../../components/form-problem.tsx";
import { useOptimisticChange } from "../../../components/use-optimistic-change.ts";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "./sharing.module.css";
import { useSharingChange } from "./sharing-api.ts";

const ICON_SIZE = 16;
const REACHES = ["restricted", "authenticated", "public"] as const;
const LINK_ROLES = ["reader", "commenter", "editor"] as const;

type LinkRole = Document["link_role"];
interface Link {
  readonly link_reach: Document["link_reach"];
  readonly link_role?: LinkRole;
}

interface Props {
  readonly document: Document;
}

/** Who can open the document by its address, and what they can do then. */
export function LinkSettings({ document }: Props): ReactNode {
  const { t } = useTranslation();
  const { id, link_reach, link_role, abilities, ancestors_link_reach, ancestors_link_role } = document;
  const options: Readonly<Partial<Record<string, readonly LinkRole[] | null>>> =
    abilities.link_select_options;
  const configure = useSharingChange(id, (body: Link) =>
    api.PUT("/api/v1.0/documents/{id}/link-configuration", { params: { path: { id } }, body }),
  );
  const [shown, change] = useOptimisticChange<Link>({ link_reach, link_role }, configure.mutateAsync);
  const roles = options[shown.link_reach] ?? [];
  const canChange = abilities.link_configuration;
  const reaches = REACHES.filter((reach) => reach === link_reach || reach in options);
  const isInherited = ancestors_link_reach !== null && ancestors_link_reach !== "restricted";
  return (
    <section aria-label={t("sharing.link")}>
      <h3>{t("sharing.link")}</h3>
      <div className={classes.link}>
        {canChange ? (
          <NativeSelect
            aria-label={t("sharing.reach")}
            value={shown.link_reach}
            data={reaches.map((reach) => ({ value: reach, label: t(`sharing.reach_${reach}`) }))}
            onChange={({ currentTarget }) => {
              const reach = REACHES.find((one) => one === currentTarget.value);
              if (reach === undefined) return;
              const allowed = options[reach] ?? [];
              const role = allowed.includes(link_role) ? link_role : allowed[0];
              change({ link_reach: reach, ...(role === undefined ? {} : { link_role: role }) });
            }}
          />
        ) : (
          <span>{t(`sharing.reach_${document.computed_link_reach ?? link_reach}`)}</span>
        )}
        {canChange && roles.length > 0 && (
          <NativeSelect
            aria-label={t("sharing.link_role")}
            value={shown.link_role ?? link_role}
            data={LINK_ROLES.filter((role) => roles.includes(role)).map((role) => ({
              value: role,
              label: t(`sharing.link_${role}`),
            }))}
            onChange={({ currentTarget }) => {
              const role = LINK_ROLES.find((one) => one === currentTarget.value);
              if (role !== undefined) change({ link_reach: shown.link_reach, link_role: role });
            }}
          />
        )}
        <CopyLink document={document} />
      </div>
      <FormProblem error={configure.error} />
      {canChange && shown.link_reach === "restricted" && !isInherited && (
        <p className={classes.note}>{t("sharing.link_restricted")}</p>
      )}
      {isInherited && (
        <p className={classes.note}>
          {t("sharing.link_inherited", {
            reach: t(`sharing.reach_${ancestors_link_reach}`),
            role: t(`sharing.link_${ancestors_link_role ?? "reader"}`),
          })}
        </p>
      )}
    </section>
  );
}

function CopyLink({ document }: Props): ReactNode {
  const { t } = useTranslation();
  const copy = useCopy();
  return (
    <Button
      variant="default"
      leftSection={<IconLink size={ICON_SIZE} aria-hidden />}
      onClick={() => void copy(location.origin + documentPath(document))}
    >
      {t("sharing.copy")}
    </Button>
  );
}
