import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../../client/api.ts";
import { WithDetails } from "./details-panel.tsx";
import { ErrorState } from "./error-state.tsx";
import { PageLinks } from "./page-links.tsx";
import { pageOf, useQueryParameters } from "./query-parameters.ts";

/** The filters of a list that the address has values of. */
export const filtersFrom = (
  parameters: URLSearchParams,
  names: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = parameters.get(name) ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );

/** What a table shows, and where its rows lead. */
export interface ListRows<Item extends { readonly id: string | number }> {
  readonly rows: readonly Item[];
  /** Id of the row whose details are open. */
  readonly chosen: Item["id"] | undefined;
  readonly hrefOf: (id: Item["id"]) => string;
}

interface Props<Item extends { readonly id: string | number }> {
  readonly list: UseQueryResult<{
    readonly data: readonly Item[];
    readonly pagination: Schemas["Pagination"];
  }>;
  /** The parameter of the address that names the chosen row. */
  readonly parameter: string;
  /** What is shown instead of a table without rows. */
  readonly empty: ReactNode;
  readonly table: (rows: ListRows<Item>) => ReactNode;
  readonly details: (chosen: Item, closeHref: string) => ReactNode;
}

/** A page of a list, with the details of the chosen row beside it; both are in the address. */
export function ListWithDetails<Item extends { readonly id: string | number }>({
  list,
  parameter,
  empty,
  table,
  details,
}: Props<Item>): ReactNode {
  const [parameters, hrefWith] = useQueryParameters();
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return null;
  const { data: rows, pagination } = list.data;
  if (rows.length === 0) return empty;
  const chosen = rows.find(({ id }) => `${id}` === parameters.get(parameter));
  return (
    <WithDetails details={chosen && details(chosen, hrefWith({ [parameter]: undefined }))}>
      {table({
        rows,
        chosen: chosen?.id,
        hrefOf: (id) => hrefWith({ [parameter]: id === chosen?.id ? undefined : `${id}` }),
      })}
      <PageLinks
        pagination={pagination}
        page={pageOf(parameters)}
        hrefOfPage={(number) =>
          hrefWith({ page: number === 1 ? undefined : `${number}`, [parameter]: undefined })
        }
      />
    </WithDetails>
  );
}
