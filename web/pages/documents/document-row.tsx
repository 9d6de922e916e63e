import { IconDots, IconFileText, IconStar, IconStarFilled } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useConfig } from "../../api/config.ts";
import { setFavorite, useDocumentChange } from "../../api/document-changes.ts";
import { type Document, documentPath } from "../../api/documents.ts";
import { IconButton } from "../../components/icon-button.tsx";
import listClasses from "../../components/list.module.css";
import { RestoreButton } from "../../components/restore-button.tsx";
import { Time } from "../../components/time.tsx";
import { DocumentMenu } from "../../document-menu/load-document-menu.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

const ICON_SIZE = 18;
const DAY_MS = 86_400_000;

interface Props {
  readonly document: Document;
}

/** A document in a list: title, who can see it, when it was edited, and what can be done with it. */
export function DocumentRow({ document }: Props): ReactNode {
  const { t } = useTranslation();
  const title = document.title ?? t("app.untitled");
  const isDeleted = document.deleted_at !== null;
  return (
    <li>
      <div className={listClasses.title}>
        <IconFileText size={ICON_SIZE} stroke={1.75} aria-hidden />
        <Link href={documentPath(document)} className={listClasses.link} dir="auto">
          {title}
        </Link>
      </div>
      <div className={listClasses.facts}>
        <span>
          {isDeleted ? <DaysLeft deletedAt={document.deleted_at ?? ""} /> : audienceOf(document, t)}
        </span>
        <Time value={document.deleted_at ?? document.updated_at} />
      </div>
      <div className={listClasses.actions}>
        {isDeleted ? (
          <RestoreButton document={document} />
        ) : (
          <>
            <FavoriteAction document={document} title={title} />
            <RowMenu document={document} title={title} />
          </>
        )}
      </div>
    </li>
  );
}

/** How long a deleted document can be restored. */
function DaysLeft({ deletedAt }: { readonly deletedAt: string }): ReactNode {
  const { t } = useTranslation();
  const { data: config } = useConfig();
  if (config === undefined) return null;
  const end = Date.parse(deletedAt) + config.TRASHBIN_CUTOFF_DAYS * DAY_MS;
  return t("documents.days_left", { count: Math.max(Math.ceil((end - Date.now()) / DAY_MS), 0) });
}

/** Who can open the document. */
function audienceOf(document: Document, t: TFunction): string {
  const { computed_link_reach: reach, nb_accesses_direct, nb_accesses_ancestors } = document;
  if (reach === "public") return t("documents.reach_public");
  if (reach === "authenticated") return t("documents.reach_authenticated");
  const count = Math.max(nb_accesses_direct, nb_accesses_ancestors);
  return count <= 1 ? t("documents.only_me") : t("documents.people", { count });
}

interface ActionProps extends Props {
  readonly title: string;
}

function FavoriteAction({ document: { id, is_favorite }, title }: ActionProps): ReactNode {
  const { t } = useTranslation();
  const change = useDocumentChange(() => setFavorite(id, !is_favorite));
  const isFavorite = change.isPending ? !is_favorite : is_favorite;
  const Star = isFavorite ? IconStarFilled : IconStar;
  return (
    <IconButton
      size="lg"
      aria-label={t(isFavorite ? "documents.remove_favorite" : "documents.add_favorite", { title })}
      onClick={() => change.mutate()}
    >
      <Star size={ICON_SIZE} stroke={1.75} aria-hidden />
    </IconButton>
  );
}

function RowMenu({ document, title }: ActionProps): ReactNode {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <DocumentMenu document={document} isListed isOpen={isOpen} onOpenChange={setOpen}>
      <IconButton
        size="lg"
        aria-label={t("documents.actions", { title })}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <IconDots size={ICON_SIZE} stroke={1.75} aria-hidden />
      </IconButton>
    </DocumentMenu>
  );
}
