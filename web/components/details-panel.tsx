import { IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useLocation } from "wouter";
import { useTranslation } from "../i18n/use-translation.ts";
import { isField } from "../shell/shortcuts.ts";
import classes from "./details-panel.module.css";
import { IconButton } from "./icon-button.tsx";

const ICON_SIZE = 18;

interface WithDetailsProps {
  /** The panel of the chosen row; undefined if none is chosen. */
  readonly details: ReactNode | undefined;
  /** The list. */
  readonly children: ReactNode;
}

/** A list, with the panel of the chosen row at its right; on a small screen instead of it. */
export const WithDetails = ({ details, children }: WithDetailsProps): ReactNode => (
  <div className={classes.split} data-open={details === undefined ? undefined : true}>
    <div className={classes.list}>{children}</div>
    {details}
  </div>
);

interface PanelProps {
  readonly title: string;
  /** The address without the chosen row. */
  readonly closeHref: string;
  readonly children: ReactNode;
}

/** The details of a row. Escape closes them, and the focus returns to the row. */
export function DetailsPanel({ title, closeHref, children }: PanelProps): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    // Not when the page has just been loaded with this address.
    if (opener instanceof HTMLElement && opener.closest("tr, li") !== null) heading.current?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isField(event.target)) return;
      if (document.querySelector("[role='dialog'], [role='menu']") === null) navigate(closeHref);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [closeHref, navigate]);
  return (
    <aside className={classes.panel} aria-labelledby={id}>
      <header className={classes.header}>
        <h2 id={id} ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h2>
        <IconButton size="lg" aria-label={t("app.close")} onClick={() => navigate(closeHref)}>
          <IconX size={ICON_SIZE} stroke={1.75} aria-hidden />
        </IconButton>
      </header>
      <div className={classes.content}>{children}</div>
    </aside>
  );
}

interface SectionProps {
  readonly title: string;
  /** At the end of the heading. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a panel with a heading. */
export const DetailsSection = ({ title, action, children }: SectionProps): ReactNode => (
  <section>
    <header className={classes.heading}>
      <h3>{title}</h3>
      {action}
    </header>
    {children}
  </section>
);
