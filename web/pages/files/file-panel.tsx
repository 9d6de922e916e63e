import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo } from "react";
import { Link } from "wouter";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { TextView } from "../../components/text-view.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { filePath, PREVIEW_MAX_BYTES, type Preview, readPreview } from "./file-preview.ts";
import classes from "./files.module.css";
import type { Artifact } from "./files-page.tsx";
import { formatBytes } from "./format-bytes.ts";

interface Props {
  readonly artifact: Artifact;
  readonly closeHref: string;
}

/** What a file contains, as far as it can be shown safely, and a link that saves it. */
export function FilePanel({ artifact, closeHref }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const { name, workspace, artifact_path, run_id, description, path_exists, path_is_dir } = artifact;
  const isFile = path_exists !== false && path_is_dir !== true;
  return (
    <DetailsPanel title={name} closeHref={closeHref}>
      <Facts>
        <Fact name={t("files.size")}>{formatBytes(artifact.size_bytes, i18n.language)}</Fact>
        {artifact.line_count > 0 && <Fact name={t("files.lines")}>{artifact.line_count}</Fact>}
        <Fact name={t("files.workspace")}>
          <Link href={`/files?workspace=${encodeURIComponent(workspace)}`}>{workspace}</Link>
        </Fact>
        <Fact name={t("files.path")}>{artifact_path}</Fact>
        {run_id !== "" && (
          <Fact name={t("files.run")}>
            <Link href={`/runs/${encodeURIComponent(run_id)}`}>
              <code>{run_id}</code>
            </Link>
          </Fact>
        )}
        <Fact name={t("files.written")}>
          <Time value={artifact.updated_at} />
        </Fact>
      </Facts>
      {description !== "" && <p>{description}</p>}
      {isFile ? (
        <DetailsSection
          title={t("files.preview")}
          action={
            <a href={filePath(artifact)} download={name} className={classes.link}>
              {t("files.download")}
            </a>
          }
        >
          <FilePreview artifact={artifact} />
        </DetailsSection>
      ) : (
        <p className={classes.muted}>{t(path_is_dir === true ? "files.is_folder" : "files.is_missing")}</p>
      )}
    </DetailsPanel>
  );
}

function FilePreview({ artifact }: Pick<Props, "artifact">): ReactNode {
  const { t, i18n } = useTranslation();
  const preview = useQuery({
    queryKey: ["artifacts", "preview", artifact.id, artifact.updated_at],
    queryFn: ({ signal }) => readPreview(artifact, signal),
    gcTime: 0,
  });
  if (preview.isError) return <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />;
  if (preview.data === undefined) return null;
  const { kind, isWhole } = preview.data;
  return (
    <>
      {kind === "image" && <Image blob={preview.data.blob} label={artifact.name} />}
      {kind === "json" && <JsonView label={t("files.preview")} text={preview.data.text} />}
      {kind === "text" && <TextView label={t("files.preview")} text={preview.data.text} />}
      {kind === "binary" && <p className={classes.muted}>{t("files.binary")}</p>}
      {!isWhole && kind !== "binary" && (
        <p className={classes.muted}>
          {t("files.beginning", { size: formatBytes(PREVIEW_MAX_BYTES, i18n.language) })}
        </p>
      )}
    </>
  );
}

/** An image of a file, which is decoded as an image and as nothing else. */
function Image({
  blob,
  label,
}: Pick<Extract<Preview, { kind: "image" }>, "blob"> & { label: string }): ReactNode {
  const url = useMemo(() => URL.createObjectURL(blob), [blob]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return <img src={url} alt={label} className={classes.image} />;
}
