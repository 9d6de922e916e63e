import type { ComponentProps, ReactNode } from "react";
import { useLocation } from "wouter";
import { EmptyState } from "./empty-state.tsx";
import { FilterChips, type FilterField } from "./filter-chips.tsx";
import { filtersFrom, ListWithDetails } from "./list-with-details.tsx";
import classes from "./page.module.css";
import { orderingOf, pageOf, useQueryParameters } from "./query-parameters.ts";

const PAGE_SIZE = 50;

/** What the address wants of a list: its filters, its order and its page. */
export function useListQuery(filters: readonly string[]) {
  const [parameters] = useQueryParameters();
  return {
    ...filtersFrom(parameters, filters),
    ...orderingOf(parameters, ["created_at"]),
    offset: (pageOf(parameters) - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
}

interface Props<Item extends { readonly id: string | number }>
  extends Omit<ComponentProps<typeof ListWithDetails<Item>>, "empty"> {
  readonly filters: readonly FilterField[];
  /** What is said if there are no records at all, and if none has the properties. */
  readonly empty: string;
  readonly emptyFound: string;
  /** The guide about the records. */
  readonly guide: string;
}

/** A page of a list below its filters, with the details of the chosen row beside it; all of them are in the address. */
export function ListWithFilters<Item extends { readonly id: string | number }>({
  filters,
  empty,
  emptyFound,
  guide,
  ...list
}: Props<Item>): ReactNode {
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const isFiltered = filters.some(({ name }) => (parameters.get(name) ?? "") !== "");
  const none = { page: undefined, [list.parameter]: undefined };
  return (
    <>
      <div className={classes.chips}>
        <FilterChips
          fields={filters}
          parameters={parameters}
          hrefWith={(changes) => hrefWith({ ...changes, ...none })}
          onAdd={(name, value) => navigate(hrefWith({ [name]: value, ...none }))}
        />
      </div>
      <hr className={classes.line} />
      <ListWithDetails
        {...list}
        empty={<EmptyState text={isFiltered ? emptyFound : empty} guide={guide} />}
      />
    </>
  );
}
