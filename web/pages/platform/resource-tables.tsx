import type { ReactNode } from "react";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { formatDuration } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./platform.module.css";
import type { Platform } from "./platform-page.tsx";

export function FunctionTable({ functions }: { readonly functions: Platform["functions"] }): ReactNode {
  const { t, i18n } = useTranslation();
  return (
    <Table
      label={t("platform.functions")}
      columns={[
        { name: t("platform.name") },
        { name: t("platform.kind") },
        { name: t("platform.receives") },
        { name: t("platform.timeout"), kind: "number" },
        { name: t("platform.memory"), kind: "number" },
        { name: t("platform.slowest"), kind: "number" },
      ]}
    >
      {functions.map(({ name, kind, routes, queues, timeout_seconds, memory_mb, slowest_ms }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className={tableClasses.muted}>{t(`platform.kind_${kind}`)}</td>
          <td className={tableClasses.fill}>
            <code>{[...routes, ...queues].join(", ")}</code>
          </td>
          <td className={tableClasses.number}>{formatDuration(timeout_seconds * 1_000, i18n.language)}</td>
          <td className={tableClasses.number}>{memory_mb} MB</td>
          <td className={tableClasses.number}>
            {slowest_ms !== null && formatDuration(slowest_ms, i18n.language)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function QueueTable({ queues }: { readonly queues: Platform["queues"] }): ReactNode {
  const { t, i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language).format;
  const depth = (value: number | null): ReactNode =>
    value === null ? <span className={classes.bad}>{t("platform.no_response")}</span> : format(value);
  return (
    <Table
      label={t("platform.queues")}
      columns={[
        { name: t("platform.name") },
        { name: t("platform.visible"), kind: "number" },
        { name: t("platform.in_flight"), kind: "number" },
        { name: t("platform.delayed"), kind: "number" },
        { name: t("platform.order") },
        { name: t("platform.deliveries"), kind: "number" },
      ]}
    >
      {queues.map(({ name, fifo, visible, in_flight, delayed, max_receive_count }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className={tableClasses.number}>{depth(visible)}</td>
          <td className={tableClasses.number}>{depth(in_flight)}</td>
          <td className={tableClasses.number}>{depth(delayed)}</td>
          <td className={tableClasses.muted}>{t(fifo ? "platform.fifo" : "platform.standard")}</td>
          <td className={tableClasses.number}>{max_receive_count}</td>
        </tr>
      ))}
    </Table>
  );
}

interface RuleTableProps {
  readonly rules: Platform["rules"];
  readonly schedules: Platform["schedules"];
}

export function RuleTable({ rules, schedules }: RuleTableProps): ReactNode {
  const { t } = useTranslation();
  const rows = [
    ...rules.map(({ pattern, ...rule }) => ({ ...rule, when: JSON.stringify(pattern) })),
    ...schedules.map(({ expression, ...rule }) => ({ ...rule, when: expression })),
  ];
  return (
    <Table
      label={t("platform.rules")}
      columns={[{ name: t("platform.name") }, { name: t("platform.queues") }, { name: t("platform.when") }]}
    >
      {rows.map(({ name, when, queues }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className={tableClasses.muted}>{queues.join(", ")}</td>
          <td className={tableClasses.fill} title={when}>
            <code>{when}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function TableTable({ tables }: { readonly tables: Platform["tables"] }): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("platform.tables")}
      columns={[{ name: t("platform.name") }, { name: t("platform.indexes") }]}
    >
      {tables.map(({ name, indexes }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className={tableClasses.fill}>{indexes.join(", ")}</td>
        </tr>
      ))}
    </Table>
  );
}
