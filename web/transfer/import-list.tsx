import { IconX } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { documentPath } from "../api/documents.ts";
import { IconButton } from "../components/icon-button.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { dismissImport, type ImportedFile, type ImportProblem, useImports } from "./imports.ts";
import classes from "./transfer.module.css";

/** The files that were imported since the page was opened, with their progress and what was left out. */
export function ImportList(): ReactNode {
  const { t } = useTranslation();
  const files = useImports();
  if (files.length === 0) return null;
  return (
    <section aria-label={t("import.list")} aria-live="polite" className={classes.imports}>
      <ul>
        {files.map((file) => (
          <ImportRow key={file.key} file={file} />
        ))}
      </ul>
    </section>
  );
}

function ImportRow({ file }: { readonly file: ImportedFile }): ReactNode {
  const { t } = useTranslation();
  const { key, name, status, progress, document, skipped } = file;
  return (
    <li data-status={status}>
      <div className={classes.row}>
        <bdi className={classes.name}>{name}</bdi>
        {document !== undefined && (
          <Link href={documentPath({ id: document, title: null })} className={classes.open}>
            {t("import.open")}
          </Link>
        )}
        {(status === "done" || status === "failed") && (
          <IconButton aria-label={t("import.dismiss", { name })} onClick={() => dismissImport(key)}>
            <IconX size={16} aria-hidden />
          </IconButton>
        )}
      </div>
      <p>{textOf(file, t)}</p>
      {status === "running" && <progress value={progress} max={1} aria-label={name} />}
      {skipped.length > 0 && (
        <details>
          <summary>{t("import.skipped", { count: skipped.length })}</summary>
          <ul>
            {skipped.map((text) => (
              <li key={text}>
                <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function textOf({ status, progress, problem }: ImportedFile, t: TFunction): string {
  if (status === "running") return t("import.running", { percent: Math.round(progress * 100) });
  if (status === "failed") return t("import.failed", { reason: reasonOf(problem, t) });
  return t(`import.${status}`);
}

function reasonOf(problem: ImportProblem | undefined, t: TFunction): string {
  switch (problem?.kind) {
    case "service":
      return problem.message;
    case "too_large":
      return t("import.too_large", { size: problem.size });
    case "type":
      return t("import.type", { extensions: problem.extensions });
    default:
      return t("import.lost");
  }
}
