import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { type Plan, planRun, type RunInput, startRun, type Workflow } from "../../api/workflows.ts";
import { Button } from "../../components/button.tsx";
import { messageOf } from "../../components/error-state.tsx";
import formClasses from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { ParamField } from "./param-field.tsx";
import classes from "./workflow.module.css";

/** The service's limit. */
const TARGET_MAX = 4_096;

interface Props {
  readonly workflow: Workflow;
  readonly onPlan: (plan: Plan) => void;
}

/** A field for the target and for each param. What is empty has its default. */
export function RunForm({ workflow, onPlan }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [target, setTarget] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const input: RunInput = {
    target: target.trim(),
    params: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")),
  };
  const run = useMutation({
    mutationFn: () => startRun(workflow, input),
    onSuccess: ({ run_uuid }) => navigate(`/runs/${run_uuid}`),
  });
  const plan = useMutation({ mutationFn: () => planRun(workflow, input), onSuccess: onPlan });
  const error = run.error ?? plan.error;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    run.reset();
    plan.reset();
    if (submitter?.getAttribute("value") === "plan") plan.mutate();
    else run.mutate();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <FormField label={t("runs.target")} hint={t("workflow.target_hint")}>
        {(attributes) => (
          <input
            {...attributes}
            maxLength={TARGET_MAX}
            value={target}
            onChange={({ currentTarget }) => setTarget(currentTarget.value)}
          />
        )}
      </FormField>
      {workflow.params.map((param) => (
        <ParamField
          key={param.name}
          param={param}
          value={values[param.name] ?? ""}
          onChange={(value) => setValues((before) => ({ ...before, [param.name]: value }))}
        />
      ))}
      {error !== null && (
        <p className={formClasses.problem} role="alert">
          {messageOf(error, t)}
        </p>
      )}
      <div className={formClasses.buttons}>
        <Button type="submit" loading={run.isPending} disabled={run.isSuccess}>
          {t("workflow.start")}
        </Button>
        <Button type="submit" value="plan" variant="default" loading={plan.isPending}>
          {t("workflow.dry_run")}
        </Button>
      </div>
    </form>
  );
}
