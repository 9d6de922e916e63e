import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { isFinished, type Run } from "../../api/runs.ts";
import { ButtonLink } from "../../components/button.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { later } from "../../components/later.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./panel.module.css";
import { RunArtifacts } from "./run-artifacts.tsx";
import { RunPanel } from "./run-panel.tsx";
import type { RunStream } from "./run-stream.ts";
import { StepSummary } from "./step-summary.tsx";
import type { TimelineStep } from "./timeline-data.ts";

const ItemGrid = later(async () => (await import("./item-grid.tsx")).ItemGrid);
const StepText = later(async () => (await import("./step-text.tsx")).StepText);

const TABS = ["summary", "items", "output", "log", "artifacts"] as const;
type Tab = (typeof TABS)[number];

interface Props {
  readonly run: Run;
  /** Key of a step, or of an item of a foreach, such as `scan#3`. */
  readonly stepKey: string;
  readonly step: TimelineStep | undefined;
  readonly stream: RunStream | undefined;
  readonly onClose: () => void;
}

/** Everything about one step, or about one item of a foreach. */
export function StepDrawer({ run, stepKey, step, stream, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const isItem = stepKey.includes("#");
  const tabs = TABS.filter((name) =>
    isItem ? name === "output" || name === "log" : name !== "items" || step?.items !== null,
  );
  const [first = "summary"] = tabs;
  const tab: Tab = tabs.find((name) => name === parameters.get("tab")) ?? first;
  const details = useQuery({
    // Read again when the step has changed.
    queryKey: ["run", run.run_uuid, "step", stepKey, step?.status, step?.completed_at, step?.attempts.length],
    enabled: !isItem,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/runs/{id}/steps", {
          params: { path: { id: run.run_uuid }, query: { step: stepKey } },
          signal,
        }),
      ),
  });
  const canReplay = isFinished(run) && step?.parent === null && !isItem;
  return (
    <RunPanel
      title={stepKey}
      subject={stepKey}
      onClose={onClose}
      actions={
        canReplay && (
          <ButtonLink
            variant="default"
            size="compact-sm"
            href={hrefWith({ panel: "replay", tab: undefined })}
          >
            {t("run.replay")}
          </ButtonLink>
        )
      }
    >
      <div className={classes.tabs}>
        <FilterTabs
          label={t("step.parts")}
          tabs={tabs.map((name) => ({
            name: t(`step.tab_${name}`),
            href: hrefWith({ tab: name === first ? undefined : name }),
            isCurrent: name === tab,
          }))}
        />
      </div>
      {tab === "summary" && step !== undefined && <StepSummary step={step} details={details.data?.data[0]} />}
      {tab === "items" && step !== undefined && step.items !== null && <ItemGrid items={step.items} />}
      {(tab === "output" || tab === "log") && (
        <StepText
          key={`${stepKey} ${tab}`}
          id={run.run_uuid}
          stepKey={stepKey}
          kind={tab}
          stream={isItem || step?.completed_at === null ? stream : undefined}
          attempts={step?.attempts.length ?? 1}
        />
      )}
      {tab === "artifacts" && <RunArtifacts id={run.run_uuid} isFinished={isFinished(run)} />}
    </RunPanel>
  );
}
