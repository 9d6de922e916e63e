import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { documentPath } from "../../api/documents.ts";
import { listCopies } from "../../api/local-data.ts";
import { useMe } from "../../api/me.ts";
import listClasses from "../../components/list.module.css";
import { useTranslation } from "../../i18n/use-translation.ts";
import { readLocalRecord } from "../document/local-copy.ts";

/** The documents with a copy on this device, which open without a connection. */
export function LocalDocuments(): ReactNode {
  const { t } = useTranslation();
  const user = useMe().data?.id ?? "";
  const documents = useQuery({
    queryKey: ["local-documents", user],
    queryFn: async () => {
      const ids = new Set((await listCopies()).filter((copy) => copy.user === user).map(({ id }) => id));
      const records = await Promise.all([...ids].map((id) => readLocalRecord(user, id)));
      return records.filter((record) => record !== null);
    },
  });
  if (documents.data === undefined || documents.data.length === 0) return null;
  return (
    <section>
      <h2>{t("documents.local")}</h2>
      <ul className={listClasses.list} aria-label={t("documents.local")}>
        {documents.data.map((document) => (
          <li key={document.id}>
            <div className={listClasses.title}>
              <Link href={documentPath(document)} className={listClasses.link} dir="auto">
                {document.title ?? t("app.untitled")}
              </Link>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
