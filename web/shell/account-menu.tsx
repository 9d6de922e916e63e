import "./menu.css";
import { Menu } from "@mantine/core";
import { type ComponentProps, type MouseEvent, type ReactNode, useState } from "react";
import type { Schemas } from "../../client/api.ts";
import { useConfig } from "../api/config.ts";
import { countDrafts, listCopies, wipeLocalData } from "../api/local-data.ts";
import { useUserLanguage } from "../api/user-language.ts";
import { COLOR_SCHEMES, setColorScheme } from "../color-scheme.ts";
import { later } from "../components/later.tsx";
import { Mantine } from "../components/mantine.tsx";
import { useChosenColorScheme } from "../components/use-color-scheme.ts";
import { LANGUAGES, type Language } from "../i18n/language.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { AccountButton } from "./account-button.tsx";
import { preventSilentLogin } from "./begin-login.ts";

const LogoutDialog = later(async () => (await import("./logout-dialog.tsx")).LogoutDialog, {
  texts: ["login"],
});

const WIDTH = 232;
const LOGOUT = "/api/v1.0/logout/";

/** Theme, language and logout. It is loaded when it is first opened, and open then. */
export function AccountMenu({ me }: { readonly me: Schemas["User"] }): ReactNode {
  const { t, i18n } = useTranslation();
  const setLanguage = useUserLanguage();
  const colorScheme = useChosenColorScheme();
  const { data: config } = useConfig();
  const [lost, setLost] = useState<ComponentProps<typeof LogoutDialog>["lost"]>();
  /** Nothing about the user stays on the device. */
  const logOut = (): void =>
    void wipeLocalData().finally(() => {
      if (config?.FRONTEND_SILENT_LOGIN_ENABLED) preventSilentLogin();
      location.assign(LOGOUT);
    });
  const askToLogOut = async (): Promise<void> => {
    // Where the number cannot be read, any copy may have some.
    const documents = await countUnsent().catch(async () => (await listCopies()).length);
    const found = { documents, workflows: countDrafts(me.id) };
    if (found.documents + found.workflows === 0) logOut();
    else setLost(found);
  };
  return (
    <Mantine>
      <Menu defaultOpened position="top-start" width={WIDTH} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <AccountButton me={me} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t("settings.theme")}</Menu.Label>
          {COLOR_SCHEMES.map((scheme) => (
            <Menu.RadioItem
              key={scheme}
              value={scheme}
              checked={scheme === colorScheme}
              onClick={() => setColorScheme(scheme)}
            >
              {t(`theme.${scheme}`)}
            </Menu.RadioItem>
          ))}
          <Menu.Label>{t("settings.language")}</Menu.Label>
          {(Object.entries(LANGUAGES) as [Language, string][]).map(([language, name]) => (
            <Menu.RadioItem
              key={language}
              value={language}
              checked={language === i18n.language}
              onClick={() => setLanguage(language)}
            >
              <span lang={language}>{name}</span>
            </Menu.RadioItem>
          ))}
          <Menu.Divider />
          <Menu.Item
            component="a"
            href={LOGOUT}
            onClick={(event: MouseEvent) => {
              event.preventDefault();
              void askToLogOut();
            }}
          >
            {t("app.log_out")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {lost !== undefined && (
        <LogoutDialog lost={lost} onCancel={() => setLost(undefined)} onConfirm={logOut} />
      )}
    </Mantine>
  );
}

/** Number of documents with changes that were not sent. The code is loaded if this device has copies of documents. */
async function countUnsent(): Promise<number> {
  if ((await listCopies()).length === 0) return 0;
  const { countUnsentDocuments } = await import("../pages/document/local-copy.ts");
  return countUnsentDocuments();
}
