import "./menu.css";
import { Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useRef } from "react";
import { Link } from "wouter";
import { useConfig } from "../api/config.ts";
import { Mantine } from "../components/mantine.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { AboutDialog } from "./about-dialog.tsx";
import { HelpButton } from "./help-button.tsx";
import { helpLinksOf } from "./help-of-theme.ts";

const WIDTH = 232;

interface Props {
  readonly isNarrow: boolean;
  readonly onShortcuts: () => void;
}

/** Guides, shortcuts, the links of the operator, and what this is. It is loaded when it is first opened, and open then. */
export function HelpMenu({ isNarrow, onShortcuts }: Props): ReactNode {
  const { t } = useTranslation();
  const { data: config } = useConfig();
  const [isAboutOpen, about] = useDisclosure();
  const button = useRef<HTMLButtonElement>(null);
  const closeAbout = (): void => {
    about.close();
    button.current?.focus();
  };
  return (
    <Mantine>
      <Menu defaultOpened position="top-start" width={WIDTH} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <HelpButton ref={button} isNarrow={isNarrow} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} href="/guide/tour">
            {t("help.guide")}
          </Menu.Item>
          <Menu.Item rightSection={<kbd>?</kbd>} onClick={onShortcuts}>
            {t("shortcuts.title")}
          </Menu.Item>
          <Menu.Item component="a" href="/docs">
            {t("help.api")}
          </Menu.Item>
          {helpLinksOf(config?.theme_customization).map(({ name, href }) => (
            <Menu.Item key={name} component="a" href={href} rel="noreferrer">
              {t(`help.${name}`)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={about.open}>{t("help.about")}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAboutOpen && <AboutDialog version={config?.RELEASE_VERSION} onClose={closeAbout} />}
    </Mantine>
  );
}
