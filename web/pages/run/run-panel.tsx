import { IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "../../components/icon-button.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./panel.module.css";

const ICON_SIZE = 18;

interface Props {
  readonly title: string;
  /** Changes if the panel is about something else. */
  readonly subject: string;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The panel at the right of a run. The focus moves to its title; Escape closes it. */
export function RunPanel({ title, subject, actions, onClose, children }: Props): ReactNode {
  const { t } = useTranslation();
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is another panel
  useEffect(() => heading.current?.focus({ preventScroll: true }), [subject]);
  return (
    <aside
      className={classes.panel}
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <header className={classes.head}>
        <h2 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h2>
        {actions}
        <IconButton size="lg" aria-label={t("app.close")} onClick={onClose}>
          <IconX size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
      </header>
      {children}
    </aside>
  );
}
