import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Run } from "../../api/runs.ts";
import { Button } from "../../components/button.tsx";
import classes from "../../components/form.module.css";
import { FormProblem } from "../../components/form-problem.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { type Param, ParamField } from "../workflow/param-field.tsx";
import panelClasses from "./panel.module.css";
import { useNewRun } from "./run-requests.ts";

/** The params that a workflow declares, or those that a run has if the workflow was deleted. */
export function useParams(run: Run): readonly Param[] | undefined {
  const workflow = useQuery({
    queryKey: ["workflow", run.workflow_name],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/workflows/{name}", { params: { path: { name: run.workflow_name } }, signal }),
      ),
  });
  if (workflow.isPending) return undefined;
  return (
    workflow.data?.data.params ??
    Object.keys(run.params).map((name) => ({ name, type: "string", required: false }))
  );
}

/** The values that differ from those of a run. */
export const changedParams = (run: Run, values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== (run.params[name] ?? "")));

/** Starts the run again, with the params as they are changed here. */
export function RerunPanel({ run }: { readonly run: Run }): ReactNode {
  const { t } = useTranslation();
  const params = useParams(run);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const create = useNewRun(run.run_uuid);
  if (params === undefined) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ action: "rerun", params: changedParams(run, values) });
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <p className={panelClasses.muted}>{t("run.rerun_hint", { target: run.target })}</p>
      {params.map((param) => (
        <ParamField
          key={param.name}
          param={param}
          value={values[param.name] ?? run.params[param.name] ?? ""}
          onChange={(value) => setValues((before) => ({ ...before, [param.name]: value }))}
        />
      ))}
      <FormProblem error={create.error} />
      <div className={classes.buttons}>
        <Button type="submit" loading={create.isPending} disabled={create.isSuccess}>
          {t("run.rerun_start")}
        </Button>
      </div>
    </form>
  );
}
