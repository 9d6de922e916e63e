import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Run } from "../../api/runs.ts";
import { Button } from "../../components/button.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import classes from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { ParamField, VALUE_MAX } from "../workflow/param-field.tsx";
import panelClasses from "./panel.module.css";
import { changedParams, useParams } from "./rerun-panel.tsx";
import { useNewRun } from "./run-requests.ts";
import type { TimelineStep } from "./timeline-data.ts";

/** The service shows no more of a value, characters. */
const SHOWN_MAX = 1_000;
/** Steps before the one that is replayed, whose values are read. */
const STEPS_MAX = 100;

interface Props {
  readonly run: Run;
  /** The step that the replay begins with. */
  readonly step: string;
  readonly steps: readonly TimelineStep[];
}

interface RecordedValue {
  readonly name: string;
  readonly step: string;
  readonly value: string;
}

/** The values that the steps before a step have set, the last ones first. */
function useEarlierValues(run: Run, step: string, steps: readonly TimelineStep[]) {
  const position = steps.findIndex(({ key }) => key === step);
  const earlier = steps
    .slice(0, Math.max(0, position))
    .filter(({ status }) => status === "completed" || status === "failed")
    .slice(-STEPS_MAX);
  return useQuery({
    queryKey: ["run", run.run_uuid, "values", step],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        earlier.map(({ key }) =>
          dataOf(
            api.GET("/automation/runs/{id}/steps", {
              params: { path: { id: run.run_uuid }, query: { step: key } },
              signal,
            }),
          ),
        ),
      );
      const values = new Map<string, RecordedValue>();
      for (const { data } of found)
        for (const { step_name, exports } of data)
          for (const [name, value] of Object.entries(exports))
            values.set(name, { name, step: step_name, value });
      return [...values.values()].toReversed();
    },
  });
}

/** Starts a run that begins with a step, with params and results of earlier steps as they are changed here. */
export function ReplayPanel({ run, step, steps }: Props): ReactNode {
  const { t } = useTranslation();
  const params = useParams(run);
  const recorded = useEarlierValues(run, step, steps);
  const [changed, setChanged] = useState<Readonly<Record<string, string>>>({});
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const create = useNewRun(run.run_uuid);
  if (recorded.isError) return <ErrorState error={recorded.error} onRetry={() => void recorded.refetch()} />;
  if (params === undefined || recorded.data === undefined) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({
      action: "replay",
      step,
      params: changedParams(run, changed),
      values: Object.fromEntries(
        Object.entries(values).map(([name, text]) => [
          name,
          editedValue(text, recorded.data.find((one) => one.name === name)?.value ?? ""),
        ]),
      ),
    });
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <p className={panelClasses.muted}>{t("run.replay_hint", { step })}</p>
      {params.map((param) => (
        <ParamField
          key={param.name}
          param={param}
          value={changed[param.name] ?? run.params[param.name] ?? ""}
          onChange={(value) => setChanged((before) => ({ ...before, [param.name]: value }))}
        />
      ))}
      <fieldset className={panelClasses.inputs}>
        <legend>{t("run.replay_values")}</legend>
        {recorded.data.length === 0 && <p className={panelClasses.muted}>{t("run.replay_no_values")}</p>}
        {recorded.data.map(({ name, step: from, value }) => {
          const isCut = value.length >= SHOWN_MAX;
          return (
            <FormField
              key={name}
              label={name}
              hint={t(isCut ? "run.replay_value_cut" : "run.replay_value", { step: from })}
            >
              {(attributes) => (
                <textarea
                  {...attributes}
                  rows={Math.min(6, value.split("\n").length)}
                  maxLength={VALUE_MAX}
                  placeholder={isCut ? value : undefined}
                  value={values[name] ?? (isCut ? "" : value)}
                  onChange={({ currentTarget }) =>
                    setValues((before) => ({ ...before, [name]: currentTarget.value }))
                  }
                />
              )}
            </FormField>
          );
        })}
      </fieldset>
      <FormProblem error={create.error} />
      <div className={classes.buttons}>
        <Button type="submit" loading={create.isPending} disabled={create.isSuccess}>
          {t("run.replay_start", { step })}
        </Button>
      </div>
    </form>
  );
}

/** An edited value: JSON if the recorded one was a number, a list or an object, otherwise text. */
function editedValue(text: string, recorded: string): unknown {
  const before = parsed(recorded);
  if (before === undefined || typeof before === "string") return text;
  return parsed(text) ?? text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
