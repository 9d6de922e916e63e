import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { ButtonLink } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy-command.tsx";
import { DetailsPanel, WithDetails } from "../../components/details-panel.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { orderingOf, useQueryParameters } from "../../components/query-parameters.ts";
import tableClasses from "../../components/table.module.css";
import { Table } from "../../components/table.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EvaluateForm } from "./evaluate-form.tsx";
import { FunctionPanel } from "./function-panel.tsx";

export type ScriptFunction = Schemas["Function"];

const EXAMPLE = 'trim("  {{target}} ")';

/** The functions that scripts may call, with a form that evaluates a script. */
export function FunctionsPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith, replace] = useQueryParameters();
  const search = parameters.get("q") ?? "";
  const group = parameters.get("group") ?? "";
  const query = {
    ...(search === "" ? {} : { search }),
    ...(group === "" ? {} : { group }),
    ...orderingOf(parameters, ["name", "group"]),
  };
  const functions = useQuery({
    queryKey: ["functions", query],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/functions", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const rows = functions.data?.functions ?? [];
  const chosen = rows.find(({ name }) => name === parameters.get("function"));
  const isEvaluating = parameters.has("evaluate");
  const closeHref = hrefWith({ function: undefined, evaluate: undefined });
  const details = chosen ? (
    <FunctionPanel key={chosen.name} entry={chosen} closeHref={closeHref} />
  ) : isEvaluating ? (
    <DetailsPanel title={t("functions.evaluate")} closeHref={closeHref}>
      <EvaluateForm script={EXAMPLE} />
    </DetailsPanel>
  ) : undefined;
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("functions.title")}
        facts={functions.isSuccess && <span>{t("functions.count", { count: functions.data.total })}</span>}
        action={
          <>
            <CopyCommand
              request={{ path: "/automation/functions", query }}
              weft={query.ordering === undefined ? weftFunctions(search, group) : undefined}
            />
            <ButtonLink href={hrefWith({ evaluate: "1", function: undefined })}>
              {t("functions.evaluate")}
            </ButtonLink>
          </>
        }
      />
      <div className={classes.toolbar}>
        <GroupField group={group} onChange={(value) => replace({ group: value, function: undefined })} />
        <FilterField
          label={t("functions.filter")}
          value={search}
          onChange={(text) => replace({ q: text === "" ? undefined : text, function: undefined })}
        />
      </div>
      {functions.isError && <ErrorState error={functions.error} onRetry={() => void functions.refetch()} />}
      {functions.isSuccess && (
        <WithDetails details={details}>
          {rows.length === 0 ? (
            <EmptyState text={t("functions.empty_found")} guide="functions" />
          ) : (
            <FunctionTable
              functions={rows}
              chosen={chosen?.name}
              hrefOf={(name) =>
                hrefWith({ function: name === chosen?.name ? undefined : name, evaluate: undefined })
              }
            />
          )}
        </WithDetails>
      )}
    </div>
  );
}

interface GroupFieldProps {
  readonly group: string;
  readonly onChange: (group: string | undefined) => void;
}

function GroupField({ group, onChange }: GroupFieldProps): ReactNode {
  const { t } = useTranslation();
  const all = useQuery({
    queryKey: ["functions", {}],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/functions", { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const groups = [...new Set(all.data?.functions.flatMap(({ tags }) => tags))].sort();
  return (
    <div className={classes.filter}>
      <select
        aria-label={t("functions.group")}
        value={group}
        onChange={({ currentTarget: { value } }) => onChange(value === "" ? undefined : value)}
      >
        <option value="">{t("functions.all_groups")}</option>
        {groups.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TableProps {
  readonly functions: readonly ScriptFunction[];
  readonly chosen: string | undefined;
  readonly hrefOf: (name: string) => string;
}

function FunctionTable({ functions, chosen, hrefOf }: TableProps): ReactNode {
  const { t } = useTranslation();
  return (
    <Table
      label={t("functions.title")}
      order="group"
      columns={[
        { name: t("functions.name"), sort: "name" },
        { name: t("functions.group"), sort: "group" },
        { name: t("functions.description") },
      ]}
    >
      {functions.map(({ name, tags, description }) => (
        <tr key={name}>
          <th scope="row">
            <Link
              href={hrefOf(name)}
              className={tableClasses.link}
              aria-current={name === chosen ? "true" : undefined}
            >
              <code>{name}</code>
            </Link>
          </th>
          <td className={tableClasses.muted}>{tags.join(", ")}</td>
          <td className={tableClasses.fill}>{description}</td>
        </tr>
      ))}
    </Table>
  );
}

const weftFunctions = (search: string, group: string): string[] => [
  "functions",
  "list",
  ...(group === "" ? [] : ["--group", group]),
  ...(search === "" ? [] : ["--search", search]),
];
