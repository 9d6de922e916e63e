import "./dialog.css";
import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";
import { Mantine } from "../components/mantine.tsx";
import { useTranslation } from "../i18n/use-translation.ts";

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The navigation on a small screen. */
export function NavigationSheet({ isOpen, onClose, children }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <Mantine>
      <Drawer
        opened={isOpen}
        onClose={onClose}
        size="280px"
        title={t("app.navigation")}
        closeButtonProps={{ "aria-label": t("app.close") }}
        transitionProps={{ duration: 0 }}
      >
        {children}
      </Drawer>
    </Mantine>
  );
}
