import { useLocation, useSearch } from "wouter";

type Changes = Readonly<Record<string, string | undefined>>;

/**
 * The parameters of the address, a function that returns the address with some of them changed, and one that replaces
 * the address in place, so that Back does not lead to each letter of a filter. Undefined removes a parameter.
 */
export function useQueryParameters(): readonly [
  parameters: URLSearchParams,
  hrefWith: (changes: Changes) => string,
  replace: (changes: Changes) => void,
] {
  const [path, navigate] = useLocation();
  const parameters = new URLSearchParams(useSearch());
  const hrefWith = (changes: Changes): string => {
    const next = new URLSearchParams(parameters);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? path : `${path}?${next}`;
  };
  return [parameters, hrefWith, (changes) => navigate(hrefWith(changes), { replace: true })];
}

/** The order of a list that the address names, by one of the fields or after `-` in reverse, as part of a query. */
export function orderingOf<const Field extends string>(
  parameters: URLSearchParams,
  fields: readonly Field[],
): { readonly ordering?: Field | `-${Field}` } {
  const ordering = fields
    .flatMap((field) => [field, `-${field}`] as const)
    .find((one) => one === parameters.get("ordering"));
  return ordering === undefined ? {} : { ordering };
}

/** The page of a list, or the slide, that the address names, from 1. */
export const pageOf = (parameters: URLSearchParams, name = "page"): number =>
  Math.max(1, Math.trunc(Number(parameters.get(name) ?? 1)) || 1);
