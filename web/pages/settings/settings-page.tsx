import type { ReactNode } from "react";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import pageClasses from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import { GeneralSettings } from "./general-settings.tsx";
import { NotificationSettings } from "./notification-settings.tsx";
import { OwnData } from "./own-data.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

/** The parts of the settings, in the order of their tabs. */
const PARTS = {
  general: GeneralSettings,
  notifications: NotificationSettings,
  sessions: Sessions,
  tokens: Tokens,
  data: OwnData,
} as const;
type PartName = keyof typeof PARTS;

const NAMES = Object.keys(PARTS) as PartName[];

interface Props {
  /** The last part of the address. */
  readonly part: string;
}

/** What a user sets for themselves. */
export function SettingsPage({ part }: Props): ReactNode {
  const { t } = useTranslation();
  const name = NAMES.find((one) => one === part);
  if (name === undefined) return <StatusPage kind="missing" />;
  const Part = PARTS[name];
  return (
    <div className={pageClasses.page}>
      <PageHeader title={t("settings.title")} />
      <div className={pageClasses.toolbar}>
        <FilterTabs
          label={t("settings.parts")}
          tabs={NAMES.map((one) => ({
            name: t(`settings.${one}`),
            href: `/settings/${one}`,
            isCurrent: one === name,
          }))}
        />
      </div>
      <Part />
    </div>
  );
}
