import { type ReactNode, useState } from "react";
import type { Document } from "../api/documents.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { ExportState } from "./export-state.tsx";
import classes from "./transfer.module.css";
import { useExport } from "./use-export.ts";

const FORMATS = ["pdf", "docx", "odt", "html", "markdown", "json", "yjs"] as const;
type Format = (typeof FORMATS)[number];
/** Formats that cannot contain comments. */
const WITHOUT_COMMENTS: ReadonlySet<Format> = new Set(["json", "yjs"]);

interface Props {
  readonly document: Document;
  readonly onClose: () => void;
}

/** Writes a document, or all below it, as a file. */
export function ExportDialog({ document: { id, title, numchild, abilities }, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [format, setFormat] = useState<Format>("pdf");
  const [hasComments, setHasComments] = useState(false);
  const [withDescendants, setWithDescendants] = useState(false);
  const { start, isPending, job, error } = useExport();
  const query = withDescendants
    ? "with_descendants=true"
    : `export_format=${format}${hasComments && !WITHOUT_COMMENTS.has(format) ? "&comments=true" : ""}`;
  return (
    <Dialog onClose={onClose} title={t("export.title", { title: title ?? t("app.untitled") })}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          start(`/api/v1.0/documents/${id}/export/?${query}`);
        }}
      >
        <fieldset className={classes.formats} disabled={withDescendants}>
          <legend>{t("export.format")}</legend>
          {FORMATS.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="format"
                checked={name === format}
                data-autofocus={name === "pdf" || undefined}
                onChange={() => setFormat(name)}
              />
              {t(`export.${name}`)}
            </label>
          ))}
        </fieldset>
        <div>
          {abilities.comment && (
            <label>
              <input
                type="checkbox"
                checked={hasComments}
                disabled={withDescendants || WITHOUT_COMMENTS.has(format)}
                onChange={({ currentTarget }) => setHasComments(currentTarget.checked)}
              />
              {t("export.comments")}
            </label>
          )}
          {numchild > 0 && (
            <label>
              <input
                type="checkbox"
                checked={withDescendants}
                onChange={({ currentTarget }) => setWithDescendants(currentTarget.checked)}
              />
              {t("export.descendants")}
            </label>
          )}
        </div>
        <div className={classes.end}>
          <ExportState job={job} error={error} />
          <Button type="submit" loading={isPending}>
            {t("export.start")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
