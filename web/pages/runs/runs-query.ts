/** States that the list is filtered by. */
export const STATUSES = ["pending", "running", "completed", "failed", "cancelled"] as const;

/** Filters besides the state, as the address and the service name them. */
export const TEXT_FILTERS = [
  "workflow",
  "target",
  "error",
  "workspace",
  "started_after",
  "started_before",
] as const;
/** Filters by the value of a param begin with it. */
export const PARAM_PREFIX = "param.";
/** The service allows no more. */
const PARAMS_MAX = 10;

/** What the service is asked for. Params are single fields, such as `param.depth`. */
export type RunsQuery = Readonly<Record<string, string | number>>;

/** The filters in an address. */
export function filtersOf(parameters: URLSearchParams): Readonly<Record<string, string>> {
  const status = STATUSES.find((one) => one === parameters.get("status"));
  const params = [...parameters.keys()].filter((name) => name.startsWith(PARAM_PREFIX)).slice(0, PARAMS_MAX);
  const names = [...TEXT_FILTERS, ...params].filter((name) => (parameters.get(name) ?? "") !== "");
  return {
    ...(status === undefined ? {} : { status }),
    ...Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ""])),
  };
}

/** Options of `weft runs` by filter. */
const OPTIONS: Readonly<Record<string, string>> = {
  status: "--status",
  workflow: "--workflow",
  target: "--target",
  error: "--error",
  workspace: "--workspace",
  started_after: "--started-after",
  started_before: "--started-before",
};

/** Arguments of `weft` that list the same runs. */
export const weftArguments = (
  filters: Readonly<Record<string, string>>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): string[] => [
  "runs",
  ...Object.entries(filters).flatMap(([name, value]) =>
    name.startsWith(PARAM_PREFIX)
      ? ["--param", `${name.slice(PARAM_PREFIX.length)}=${value}`]
      : [OPTIONS[name] ?? "", value],
  ),
  ...(offset === 0 ? [] : ["--offset", `${offset}`]),
  "--limit",
  `${limit}`,
];
