import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { refusalOf } from "../../api/failures.ts";
import { isFinished, type Run } from "../../api/runs.ts";
import { CopyCommand } from "../../components/copy-command.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { later } from "../../components/later.tsx";
import pageClasses from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useBusy } from "../../components/rest.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import classes from "./run.module.css";
import { RunActions } from "./run-actions.tsx";
import { RunFacts } from "./run-facts.tsx";
import { RunPanel } from "./run-panel.tsx";
import { RunSteps } from "./run-steps.tsx";
import type { RunStream } from "./run-stream.ts";
import { type TimelineStep, useTimeline } from "./timeline-data.ts";
import { useLiveRun } from "./use-live-run.ts";

/* Loaded when they are first shown. */
const ReplayPanel = later(async () => (await import("./replay-panel.tsx")).ReplayPanel);
const RerunPanel = later(async () => (await import("./rerun-panel.tsx")).RerunPanel);
const RunArtifacts = later(async () => (await import("./run-artifacts.tsx")).RunArtifacts);
const RunChain = later(async () => (await import("./run-chain.tsx")).RunChain);
const RunGraph = later(async () => (await import("./run-graph.tsx")).RunGraph, { texts: ["workflows"] });
const RunLog = later(async () => (await import("./run-log.tsx")).RunLog);
const StepDrawer = later(async () => (await import("./step-drawer.tsx")).StepDrawer);
const TimelineView = later(async () => (await import("./timeline-view.tsx")).TimelineView);

const VIEWS = ["steps", "timeline", "graph", "log", "artifacts", "chain"] as const;

/** What a view shows, below the path of the run. */
const PATHS = {
  steps: "/timeline",
  timeline: "/timeline",
  graph: "/timeline",
  log: "/log",
  artifacts: "/artifacts",
  chain: "/chain",
};

/** One run: its state and facts, why it failed, and its steps, which change while it runs. */
export function RunPage({ id }: { readonly id: string }): ReactNode {
  const { run, stream } = useLiveRun(id);
  const refusal = refusalOf(run.error);
  if (refusal !== undefined) return <StatusPage kind={refusal} />;
  if (run.isPending) return null;
  if (run.data === undefined)
    return (
      <div className={pageClasses.page}>
        <ErrorState error={run.error} onRetry={() => void run.refetch()} />
      </div>
    );
  return <RunView run={run.data.data} stream={stream} />;
}

interface ViewProps {
  readonly run: Run;
  readonly stream: RunStream;
}

function RunView({ run, stream }: ViewProps): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const id = run.run_uuid;
  const timeline = useTimeline(id);
  useBusy(timeline.isPending);
  const steps = timeline.data ?? [];
  const view = VIEWS.find((name) => name === parameters.get("view")) ?? "steps";
  const step = parameters.get("step") ?? undefined;
  // The log of a run that was live when the page was opened may still receive its last lines.
  const wasLive = useRef(!isFinished(run));
  const live = wasLive.current ? stream : undefined;
  return (
    <div className={classes.page}>
      <PageHeader
        title={run.workflow_name}
        facts={<RunFacts run={run} />}
        action={
          <>
            <CopyCommand
              request={{ path: `/automation/runs/${id}${PATHS[view]}` }}
              weft={view === "log" ? ["logs", id] : ["runs", "show", id]}
            />
            <RunActions run={run} />
          </>
        }
      />
      {run.error_message !== "" && (
        <section className={classes.error}>
          <h2>{t("run.error")}</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
          <pre tabIndex={0}>{run.error_message}</pre>
          {run.status === "failed" && <p>{t("run.resume_hint", { revision: run.workflow_revision })}</p>}
        </section>
      )}
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("run.views")}
          tabs={VIEWS.map((name) => ({
            name: t(`run.view_${name}`),
            href: hrefWith({ view: name === "steps" ? undefined : name }),
            isCurrent: name === view,
          }))}
        />
      </div>
      <div className={classes.body}>
        <div className={classes.content}>
          {timeline.isError && <ErrorState error={timeline.error} onRetry={() => void timeline.refetch()} />}
          {view === "steps" && timeline.isSuccess && <RunSteps steps={steps} current={step} />}
          {view === "timeline" && timeline.isSuccess && (
            <TimelineView run={run} steps={steps} current={step} />
          )}
          {view === "log" && <RunLog id={id} stream={live} />}
          {view === "graph" && timeline.isSuccess && <RunGraph run={run} steps={steps} current={step} />}
          {view === "chain" && <RunChain id={id} version={run.updated_at} />}
          {view === "artifacts" && <RunArtifacts id={id} isFinished={isFinished(run)} />}
        </div>
        <Panel run={run} steps={steps} stream={live} />
      </div>
      <Announcements run={run} />
    </div>
  );
}

interface PanelProps {
  readonly run: Run;
  readonly steps: readonly TimelineStep[];
  readonly stream: RunStream | undefined;
}

/** The panel that the address names: a step, or the form of a new run. */
function Panel({ run, steps, stream }: PanelProps): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const [, navigate] = useLocation();
  const step = parameters.get("step");
  const panel = parameters.get("panel");
  const close = (): void => {
    navigate(hrefWith({ step: undefined, tab: undefined, panel: undefined }));
    document.getElementById(panel === "rerun" ? "open-rerun" : `step-${step}`)?.focus();
  };
  if (panel === "rerun")
    return (
      <RunPanel title={t("run.rerun")} subject="rerun" onClose={close}>
        <RerunPanel run={run} />
      </RunPanel>
    );
  if (panel === "replay" && step !== null)
    return (
      <RunPanel title={t("run.replay_from", { step })} subject={`replay ${step}`} onClose={close}>
        <ReplayPanel run={run} step={step} steps={steps} />
      </RunPanel>
    );
  if (step === null) return null;
  return (
    <StepDrawer
      run={run}
      stepKey={step}
      step={steps.find(({ key }) => key === step)}
      stream={stream}
      onClose={close}
    />
  );
}

/** Says when the state of the run has changed. */
function Announcements({ run }: { readonly run: Run }): ReactNode {
  const { t } = useTranslation();
  const first = useRef(run.status);
  useEffect(() => {
    first.current = run.status;
  }, [run.status]);
  return (
    <p role="status" className={classes.announcement}>
      {first.current === run.status ? "" : t(`state.${run.status}`)}
    </p>
  );
}
