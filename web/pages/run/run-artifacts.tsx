import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./panel.module.css";

interface Props {
  readonly id: string;
  readonly isFinished: boolean;
}

/** The files that a run has registered. */
export function RunArtifacts({ id, isFinished }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const artifacts = useQuery({
    queryKey: ["run", id, "artifacts", isFinished],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/runs/{id}/artifacts", { params: { path: { id } }, signal })),
  });
  if (artifacts.data === undefined)
    return (
      artifacts.isError && <ErrorState error={artifacts.error} onRetry={() => void artifacts.refetch()} />
    );
  const { data } = artifacts.data;
  if (data.length === 0) return <EmptyState text={t("run.no_artifacts")} />;
  const bytes = new Intl.NumberFormat(i18n.language, { style: "unit", unit: "byte", unitDisplay: "short" });
  return (
    <ul className={classes.list} aria-label={t("step.tab_artifacts")}>
      {data.map(({ id: artifact, workspace, artifact_path, name, size_bytes }) => (
        <li key={artifact}>
          <a
            href={`/automation/artifacts/${encodeURIComponent(workspace)}?artifact_path=${encodeURIComponent(artifact_path)}`}
            download
          >
            {name === "" ? artifact_path : name}
          </a>
          <span className={classes.muted}>{bytes.format(size_bytes)}</span>
        </li>
      ))}
    </ul>
  );
}
