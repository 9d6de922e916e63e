import { type KeyboardEvent, memo, type ReactNode } from "react";
import { Link } from "wouter";
import { durationOf, type Run, stateOf } from "../../api/runs.ts";
import { State } from "../../components/state.tsx";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { isField } from "../../shell/shortcuts.ts";
import classes from "./runs.module.css";

interface Props {
  readonly runs: readonly Run[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (id: string, isSelected: boolean) => void;
}

/** The runs of a page. The key `x` selects the row of the focus. */
export function RunTable({ runs, selected, onSelect }: Props): ReactNode {
  const { t } = useTranslation();
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const id = (target as HTMLElement).closest<HTMLElement>("[data-run]")?.dataset.run;
    const isText = isField(target) && !(target as HTMLElement).matches("[type='checkbox']");
    if (id === undefined || isText) return;
    event.preventDefault();
    onSelect(id, !selected.has(id));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the links inside arrive here
    <div className={classes.table} onKeyDown={onKeyDown}>
      <Table
        label={t("runs.title")}
        order="-created_at"
        columns={[
          { name: t("runs.workflow") },
          { name: t("runs.status") },
          { name: t("runs.target") },
          { name: t("runs.trigger") },
          { name: t("runs.steps"), kind: "number" },
          { name: t("runs.started"), sort: "created_at" },
          { name: t("runs.duration"), kind: "number" },
          { name: t("runs.select"), kind: "actions" },
        ]}
      >
        {runs.map((run) => (
          <Row key={run.run_uuid} run={run} isSelected={selected.has(run.run_uuid)} onSelect={onSelect} />
        ))}
      </Table>
    </div>
  );
}

interface RowProps {
  readonly run: Run;
  readonly isSelected: boolean;
  readonly onSelect: Props["onSelect"];
}

const Row = memo(function Row({ run, isSelected, onSelect }: RowProps): ReactNode {
  const { t, i18n } = useTranslation();
  const duration = durationOf(run, Date.now());
  return (
    <tr data-run={run.run_uuid} data-selected={isSelected || undefined}>
      <th scope="row">
        <Link href={`/runs/${run.run_uuid}`} className={tableClasses.link} dir="auto">
          {run.workflow_name}
        </Link>
      </th>
      <td>
        <State name={stateOf(run)} />
      </td>
      <td
        className={tableClasses.text}
        title={run.error_message === "" ? run.target : run.error_message}
        dir="auto"
      >
        {run.target}
      </td>
      <td className={tableClasses.muted}>{run.trigger_type}</td>
      <td className={tableClasses.number}>
        {t("runs.steps_of", { done: run.completed_steps, total: run.total_steps })}
      </td>
      <td className={tableClasses.muted}>
        <Time value={run.started_at} />
      </td>
      <td className={tableClasses.number}>
        {duration === undefined ? "" : formatDuration(duration, i18n.language)}
      </td>
      <td className={classes.select}>
        <input
          type="checkbox"
          aria-label={t("runs.select_one", { name: run.workflow_name, target: run.target })}
          checked={isSelected}
          onChange={({ currentTarget }) => onSelect(run.run_uuid, currentTarget.checked)}
        />
      </td>
    </tr>
  );
});
