import type { ReactNode } from "react";
import type { Schemas } from "../../client/api.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import { ButtonLink } from "./button.tsx";
import classes from "./page.module.css";

interface Props {
  readonly pagination: Schemas["Pagination"];
  readonly page: number;
  readonly hrefOfPage: (page: number) => string;
}

/** Which records of a list are shown, and links to the pages before and after. */
export function PageLinks({ pagination, page, hrefOfPage }: Props): ReactNode {
  const { t } = useTranslation();
  const { total, offset, limit } = pagination;
  const to = Math.min(offset + limit, total);
  return (
    <nav className={classes.pages} aria-label={t("app.pages")}>
      <span>{t("app.range", { from: offset + 1, to, total })}</span>
      {page > 1 && (
        <ButtonLink href={hrefOfPage(page - 1)} variant="default" size="compact-sm">
          {t("app.previous_page")}
        </ButtonLink>
      )}
      {to < total && (
        <ButtonLink href={hrefOfPage(page + 1)} variant="default" size="compact-sm">
          {t("app.next_page")}
        </ButtonLink>
      )}
    </nav>
  );
}
