import { IconTerminal2 } from "@tabler/icons-react";
import type { ComponentProps, ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { IconButton } from "./icon-button.tsx";

const ICON_SIZE = 18;

/** The button of the menu that copies commands. */
export function CopyCommandButton(props: Pick<ComponentProps<"button">, "ref" | "onClick">): ReactNode {
  const { t } = useTranslation();
  return (
    <IconButton size="lg" aria-haspopup="menu" aria-label={t("copy.menu")} title={t("copy.menu")} {...props}>
      <IconTerminal2 size={ICON_SIZE} stroke={1.75} aria-hidden />
    </IconButton>
  );
}
