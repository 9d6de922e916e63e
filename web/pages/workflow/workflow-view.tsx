import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiFailure, dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { SCHEDULES } from "../../api/schedules.ts";
import {
  type Plan,
  saveWorkflow,
  type ValidatedWorkflow,
  type WorkflowDetail,
  workflowPath,
} from "../../api/workflows.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { messageOf } from "../../components/error-state.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import { later } from "../../components/later.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { Time } from "../../components/time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useLeaveWarning } from "../../components/use-leave-warning.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import type { CodeEditor } from "./code-editor.ts";
import { deleteDraft, readDraft, useKeptDraft } from "./drafts.ts";
import { type Outline, type OutlineStep, stepAt } from "./outline-steps.ts";
import { ProblemList } from "./problem-list.tsx";
import { RunForm } from "./run-form.tsx";
import { StepList } from "./step-list.tsx";
import classes from "./workflow.module.css";
import { WorkflowTriggers } from "./workflow-triggers.tsx";

const Revisions = later(async () => (await import("./revisions.tsx")).Revisions);
const StepGraph = later(async () => (await import("./step-graph.tsx")).StepGraph);
const SourceEditor = later(async () => (await import("./source-editor.tsx")).SourceEditor, {
  before: () => <div className={classes.code} />,
});

const PANELS = ["steps", "graph", "run", "triggers", "revisions"] as const;

const EXAMPLE = `name: hello
description: Says hello
params:
  - name: greeting
    default: Hello
steps:
  - name: say
    type: bash
    command: printf '%s, %s\\n' {{greeting}} {{target}}
`;

interface Props {
  /** Undefined for a new one. */
  readonly workflow: WorkflowDetail | undefined;
  readonly onSaved?: () => void;
}

export function WorkflowView({ workflow, onSaved }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const [parameters, hrefWith] = useQueryParameters();
  const name = workflow?.name ?? "";
  const stored = workflow?.yaml ?? EXAMPLE;
  const user = useMe().data?.id ?? "";
  const panel =
    workflow === undefined ? "steps" : (PANELS.find((one) => one === parameters.get("panel")) ?? "steps");
  const editor = useRef<CodeEditor>(undefined);
  /** What was not saved at an earlier visit, until it is saved or discarded. */
  const [draft, setDraft] = useState(() => readDraft(user, name));
  const [text, setText] = useState(draft?.text ?? stored);
  const [initialText] = useState(text);
  const [revision, setRevision] = useState(draft?.revision ?? workflow?.revision ?? 0);
  const [outline, setOutline] = useState<Outline>({ name, steps: [] });
  const [line, setLine] = useState(1);
  const [result, setResult] = useState<ValidatedWorkflow>();
  const [plan, setPlan] = useState<Plan>();
  const isChanged = text !== stored;
  const save = useMutation({
    mutationFn: (basedOn: number) => saveWorkflow(text, basedOn),
    onSuccess: (saved) => {
      for (const one of [name, saved.name]) deleteDraft(user, one);
      setDraft(undefined);
      setPlan(undefined);
      setRevision(saved.revision);
      void client.invalidateQueries({ queryKey: ["workflows"] });
      void client.invalidateQueries({ queryKey: [SCHEDULES] });
      showToast(t("workflow.saved", { name: saved.name, revision: saved.revision }));
      if (saved.name === name) onSaved?.();
      else navigate(workflowPath(saved.name));
    },
    onError: (error) => {
      if (!isConflict(error)) showToast(`${t("workflow.not_saved")}: ${messageOf(error, t)}`);
    },
  });
  // Another name is another workflow.
  const basedOn = result?.valid !== true || result.name === name ? revision : 0;
  const startSave = (): void => {
    if ((isChanged || workflow === undefined) && !save.isPending) save.mutate(basedOn);
  };
  const isUnsaved = isChanged && !save.isSuccess;
  useKeptDraft(user, name, { text, revision, isUnsaved, isChanged });
  useLeaveWarning(isUnsaved);
  const onChange = (changed: string): void => {
    setText(changed);
    setPlan(undefined);
    save.reset();
  };
  const discardDraft = (): void => {
    if (editor.current === undefined) return;
    editor.current.replace(stored);
    setRevision(workflow?.revision ?? 0);
    setDraft(undefined);
  };
  const planned = useMemo(
    () => new Map(plan?.steps.map(({ name: step, will }) => [step, will] as const)),
    [plan],
  );
  const goTo = useCallback((number: number): void => editor.current?.goTo(number), []);
  const select = useCallback(({ from }: OutlineStep): void => goTo(from), [goTo]);
  // The list is not drawn again while the text changes.
  const current = useMemo(() => stepAt(outline, line), [outline, line]);
  return (
    <div className={classes.page}>
      <PageHeader
        title={workflow?.name ?? t("workflows.new")}
        facts={<Facts workflow={workflow} isChanged={isChanged} />}
        action={
          <>
            <Button
              variant={isChanged || workflow === undefined ? "filled" : "default"}
              disabled={!isChanged && workflow !== undefined}
              loading={save.isPending}
              onClick={startSave}
            >
              {t("workflow.save")}
            </Button>
            {workflow !== undefined && (
              <ButtonLink
                variant={isChanged || panel === "run" ? "default" : "filled"}
                href={hrefWith({ panel: "run", revision: undefined })}
                aria-label={t("workflows.run_named", { name })}
              >
                {t("workflows.run")}
              </ButtonLink>
            )}
          </>
        }
      />
      {draft !== undefined && isUnsaved && (
        <div className={classes.notice} role="status">
          <p>
            {t("workflow.draft")} <Time value={draft.changed_at} />
          </p>
          <Button variant="default" size="compact-sm" onClick={discardDraft}>
            {t("workflow.discard")}
          </Button>
        </div>
      )}
      {isConflict(save.error) && (
        <Conflict
          name={result?.valid === true ? result.name : name}
          onLoad={(theirs) => {
            setRevision(theirs.revision);
            editor.current?.replace(theirs.yaml);
            save.reset();
            onSaved?.();
          }}
          onOverwrite={(theirs) => save.mutate(theirs.revision)}
        />
      )}
      <div className={classes.split} data-wide={panel === "graph" || panel === "revisions" || undefined}>
        <div className={classes.source}>
          <SourceEditor
            text={initialText}
            editor={editor}
            onChange={onChange}
            onCursor={setLine}
            onSave={startSave}
            onValidated={setResult}
            onOutline={setOutline}
          />
          <ProblemList result={result} onLine={goTo} />
        </div>
        <aside className={classes.panel} aria-label={t("workflow.panels")}>
          {workflow !== undefined && (
            <div className={classes.tabs}>
              <FilterTabs
                label={t("workflow.panels")}
                tabs={PANELS.map((one) => ({
                  name: t(`workflow.panel_${one}`),
                  href: hrefWith({ panel: one === "steps" ? undefined : one, revision: undefined }),
                  isCurrent: one === panel,
                }))}
              />
            </div>
          )}
          {panel === "steps" && (
            <>
              {workflow === undefined && (
                <p className={classes.plan}>
                  {t("workflow.new_hint")} <Link href="/guide/workflows">{t("app.guide")}</Link>
                </p>
              )}
              {plan !== undefined && (
                <p className={classes.plan}>{t("workflow.plan", { target: plan.target, revision })}</p>
              )}
              <StepList steps={outline.steps} current={current} plan={plan} onSelect={select} />
            </>
          )}
          {panel === "graph" && (
            <StepGraph
              steps={outline.steps}
              isFlow={workflow?.kind === "flow"}
              current={current}
              states={planned}
              onSelect={select}
            />
          )}
          {panel === "revisions" && workflow !== undefined && (
            <Revisions
              name={workflow.name}
              text={text}
              onRestore={(old, number) => {
                editor.current?.replace(old);
                showToast(t("workflow.restored", { revision: number }));
              }}
            />
          )}
          {panel === "run" && workflow !== undefined && (
            <>
              {isChanged && <p className={classes.plan}>{t("workflow.runs_saved", { revision })}</p>}
              <RunForm
                workflow={workflow}
                onPlan={(planned) => {
                  setPlan(planned);
                  navigate(hrefWith({ panel: undefined }));
                }}
              />
            </>
          )}
          {panel === "triggers" && workflow !== undefined && <WorkflowTriggers workflow={workflow.name} />}
        </aside>
      </div>
    </div>
  );
}

const isConflict = (error: unknown): boolean => error instanceof ApiFailure && error.status === 409;

interface FactsProps {
  readonly workflow: WorkflowDetail | undefined;
  readonly isChanged: boolean;
}

function Facts({ workflow, isChanged }: FactsProps): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      {workflow !== undefined && (
        <>
          <span>{t(`workflow.kind_${workflow.kind}`)}</span>
          <span>{t("workflow.revision", { revision: workflow.revision })}</span>
          <Time value={workflow.updated_at} />
          {workflow.file_path !== "" && <span>{workflow.file_path}</span>}
        </>
      )}
      <span role="status">
        {isChanged || workflow === undefined ? t("workflow.unsaved") : t("workflow.is_saved")}
      </span>
    </>
  );
}

interface ConflictProps {
  readonly name: string;
  readonly onLoad: (theirs: WorkflowDetail) => void;
  readonly onOverwrite: (theirs: WorkflowDetail) => void;
}

/** Another revision was stored meanwhile: the user decides which text is kept. */
function Conflict({ name, onLoad, onOverwrite }: ConflictProps): ReactNode {
  const { t } = useTranslation();
  const newest = useMutation({
    mutationFn: async (use: (theirs: WorkflowDetail) => void) => {
      const theirs = await dataOf(api.GET("/automation/workflows/{name}", { params: { path: { name } } }));
      use(theirs.data);
    },
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  });
  return (
    <div className={classes.notice} role="alert">
      <p>{t("workflow.conflict", { name })}</p>
      <Button variant="default" size="compact-sm" onClick={() => newest.mutate(onLoad)}>
        {t("workflow.load_theirs")}
      </Button>
      <Button variant="default" size="compact-sm" onClick={() => newest.mutate(onOverwrite)}>
        {t("workflow.save_mine")}
      </Button>
    </div>
  );
}
