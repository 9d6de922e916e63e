import type { ReactNode } from "react";
import { useConfig } from "../api/config.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./footer.module.css";
import { footerOf } from "./footer-of-theme.ts";
import type { ThemeLink } from "./theme-fields.ts";

/** The footer of the theme file, in the language of the interface. */
export function Footer(): ReactNode {
  const { i18n } = useTranslation();
  const { data: config } = useConfig();
  const footer = footerOf(config?.theme_customization, i18n.language);
  if (footer === undefined) return null;
  return (
    <footer className={classes.footer}>
      {footer.links.length > 0 && (
        <ul>
          {footer.links.map((link) => (
            <li key={link.label + link.href}>
              <LinkOfTheme link={link} />
            </li>
          ))}
        </ul>
      )}
      {(footer.note !== "" || footer.noteLink !== undefined) && (
        <p>
          {footer.note} {footer.noteLink !== undefined && <LinkOfTheme link={footer.noteLink} />}
        </p>
      )}
    </footer>
  );
}

const LinkOfTheme = ({ link: { label, href } }: { readonly link: ThemeLink }): ReactNode => (
  <a href={href} rel="noreferrer">
    {label}
  </a>
);
