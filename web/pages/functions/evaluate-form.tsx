import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import formClasses from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./functions.module.css";

/** The limits of the service. */
const SCRIPT_MAX_LENGTH = 100_000;
const TARGET_MAX_LENGTH = 10_000;

/** Evaluates a script outside of a run. Ctrl+Enter sends it. */
export function EvaluateForm({ script: initial }: { readonly script: string }): ReactNode {
  const { t } = useTranslation();
  const [script, setScript] = useState(initial);
  const [target, setTarget] = useState("");
  const body = { script, ...(target === "" ? {} : { target }) };
  const evaluate = useMutation({
    mutationFn: () => dataOf(api.POST("/automation/functions/eval", { body })),
  });
  const submit = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault();
    evaluate.mutate();
  };
  return (
    <form className={formClasses.form} onSubmit={submit}>
      <FormField label={t("functions.script")} hint={t("functions.script_hint")}>
        {(attributes) => (
          <textarea
            {...attributes}
            className={classes.script}
            required
            spellCheck={false}
            maxLength={SCRIPT_MAX_LENGTH}
            value={script}
            onChange={({ currentTarget }) => setScript(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
            }}
          />
        )}
      </FormField>
      <FormField label={t("functions.target")}>
        {(attributes) => (
          <input
            {...attributes}
            maxLength={TARGET_MAX_LENGTH}
            value={target}
            onChange={({ currentTarget }) => setTarget(currentTarget.value)}
          />
        )}
      </FormField>
      <div className={formClasses.buttons}>
        <Button type="submit" variant="default" loading={evaluate.isPending}>
          {t("functions.run")}
        </Button>
        <CopyCommand
          request={{ method: "POST", path: "/automation/functions/eval", body }}
          weft={["functions", "eval", script, ...(target === "" ? [] : ["--target", target])]}
        />
      </div>
      <FormProblem error={evaluate.error} />
      {evaluate.isSuccess && (
        <div role="status" className={classes.result}>
          <JsonView label={t("functions.result")} text={JSON.stringify(evaluate.data.result ?? null)} />
          {evaluate.data.logs.length > 0 && (
            <pre className={classes.code}>
              {evaluate.data.logs.map(({ level, message }) => `${level}: ${message}`).join("\n")}
            </pre>
          )}
        </div>
      )}
    </form>
  );
}
