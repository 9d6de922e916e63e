import { IconHelp } from "@tabler/icons-react";
import type { ComponentProps, ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./shell.module.css";

const ICON_SIZE = 18;

interface Props extends ComponentProps<"button"> {
  readonly isNarrow: boolean;
  /** For the menu. */
  readonly onShortcuts?: () => void;
}

/** Opens the menu of the help. */
export function HelpButton({ isNarrow, onShortcuts: _onShortcuts, ...others }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-haspopup="menu"
      title={isNarrow ? t("app.help") : undefined}
      {...others}
      className={classes.link}
    >
      <IconHelp size={ICON_SIZE} stroke={1.75} aria-hidden />
      <span className={classes.text}>{t("app.help")}</span>
    </button>
  );
}
