import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { useWorkspaceNames } from "../../api/workspace-names.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import formClasses from "../../components/form.module.css";
import { FormField } from "../../components/form-field.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./findings.module.css";
import { Severity } from "./severity.tsx";

const KINDS = ["vulnerabilities", "assets"] as const;
const GROUPS = ["added", "changed", "removed"] as const;
/** The beginning of the period that the form begins with. */
const PERIOD_MS = 7 * 24 * 3_600_000;
const DATE_LENGTH = "YYYY-MM-DD".length;

/** What was added, changed and removed in a workspace between two times, which are in the address. */
export function Changes(): ReactNode {
  const { t } = useTranslation();
  const [parameters, , replace] = useQueryParameters();
  const workspaces = useWorkspaceNames();
  const named = parameters.get("workspace") ?? "";
  const [workspace, setWorkspace] = useState(named);
  const [from, setFrom] = useState(
    parameters.get("from") ?? new Date(Date.now() - PERIOD_MS).toISOString().slice(0, DATE_LENGTH),
  );
  const [to, setTo] = useState(parameters.get("to") ?? "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    replace({ workspace, from, to: to === "" ? undefined : to });
  };
  return (
    <>
      <form className={classes.period} onSubmit={submit}>
        <FormField label={t("findings.workspace")}>
          {(attributes) => (
            <select
              {...attributes}
              required
              value={workspace}
              onChange={({ currentTarget }) => setWorkspace(currentTarget.value)}
            >
              <option value="">{t("findings.choose")}</option>
              {[...new Set([...workspaces, ...(named === "" ? [] : [named])])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </FormField>
        <FormField label={t("findings.from")}>
          {(attributes) => (
            <input
              {...attributes}
              type="date"
              required
              value={from}
              onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            />
          )}
        </FormField>
        <FormField label={t("findings.to")}>
          {(attributes) => (
            <input
              {...attributes}
              type="date"
              value={to}
              onChange={({ currentTarget }) => setTo(currentTarget.value)}
            />
          )}
        </FormField>
        <div className={formClasses.buttons}>
          <Button type="submit" variant="default">
            {t("findings.compare")}
          </Button>
        </div>
      </form>
      {named === "" || parameters.get("from") === null ? (
        <EmptyState text={t("findings.no_period")} />
      ) : (
        KINDS.map((kind) => (
          <Diff
            key={kind}
            kind={kind}
            workspace={named}
            from={parameters.get("from") ?? ""}
            to={parameters.get("to") ?? ""}
          />
        ))
      )}
    </>
  );
}

interface DiffProps {
  readonly kind: (typeof KINDS)[number];
  readonly workspace: string;
  readonly from: string;
  readonly to: string;
}

function Diff({ kind, ...period }: DiffProps): ReactNode {
  const { t, i18n } = useTranslation();
  const query = { ...period, to: period.to === "" ? undefined : period.to };
  const diff = useQuery({
    queryKey: [kind, "diff", query],
    queryFn: ({ signal }) =>
      dataOf(
        kind === "assets"
          ? api.GET("/automation/assets/diff", { params: { query }, signal })
          : api.GET("/automation/vulnerabilities/diff", { params: { query }, signal }),
      ),
  });
  if (diff.isError) return <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />;
  if (diff.data === undefined) return null;
  const { data } = diff.data;
  const totals = {
    added: data.summary.total_added,
    changed: data.summary.total_changed,
    removed: data.summary.total_removed,
  };
  return (
    <section className={classes.diff}>
      <h2>{t(`findings.${kind}`)}</h2>
      {GROUPS.map((group) => (
        <div key={group}>
          <h3 data-change={group}>
            {t(`findings.${group}`, { number: new Intl.NumberFormat(i18n.language).format(totals[group]) })}
          </h3>
          <ul>
            {data[group].map((record) => (
              <DiffRow key={String(record.id)} record={record} />
            ))}
          </ul>
        </div>
      ))}
      {data.truncated && <p className={classes.muted}>{t("findings.truncated")}</p>}
    </section>
  );
}

function DiffRow({ record }: { readonly record: Schemas["Diff"]["added"][number] }): ReactNode {
  const { t } = useTranslation();
  const text = (name: string): string => (typeof record[name] === "string" ? record[name] : "");
  const title = text("vuln_title");
  return (
    <li dir="auto">
      {text("severity") !== "" && <Severity name={text("severity")} />}
      {title !== "" && <span>{title}</span>}
      <span className={title === "" ? undefined : classes.muted}>
        {text("asset_value") === "" && title === "" ? t("findings.untitled") : text("asset_value")}
      </span>
      <span className={classes.muted}>{text("asset_type")}</span>
    </li>
  );
}
