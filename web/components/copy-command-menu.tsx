import "../shell/menu.css";
import { Menu } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { CopyCommandButton } from "./copy-command-button.tsx";
import { type CopiedRequest, curlCommand, weftCommand } from "./copy-command-text.ts";
import { copyText } from "./copy-text.ts";
import { Mantine } from "./mantine.tsx";
import { showToast } from "./toasts.tsx";

interface Props {
  readonly request: CopiedRequest;
  readonly weft: readonly (string | undefined)[] | undefined;
}

/** It is loaded when it is first opened, and open then. */
export function CopyCommandMenu({ request, weft }: Props): ReactNode {
  const { t } = useTranslation();
  const copy = async (command: string): Promise<void> => {
    const isCopied = await copyText(command);
    showToast(isCopied ? t("copy.copied", { text: command }) : t("copy.refused"));
  };
  return (
    <Mantine>
      <Menu defaultOpened position="bottom-end" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <CopyCommandButton />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void copy(curlCommand(request, location.origin))}>
            {t("copy.curl")}
          </Menu.Item>
          {weft !== undefined && (
            <Menu.Item onClick={() => void copy(weftCommand(weft))}>{t("copy.weft")}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </Mantine>
  );
}
