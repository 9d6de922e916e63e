import * as z from "zod";
import { SEARCHED_PARAMS_MAX } from "./run-list.ts";

const PREFIX = "param.";
/** Params that one request filters by. */
const FILTERS_MAX = 10;
const NAME_MAX_LENGTH = 256;
const VALUE_MAX_LENGTH = 1024;

/** The query with its `param.<name>` collected in `param`. */
export function collectParams(query: unknown): unknown {
  const all = Object.entries(query as Readonly<Record<string, unknown>>);
  const params = all.flatMap(([key, value]) =>
    key.startsWith(PREFIX) && value !== "" ? [[key.slice(PREFIX.length), value] as const] : [],
  );
  return { ...Object.fromEntries(all), param: Object.fromEntries(params) };
}

/** Values of params by name, as `collectParams` leaves them. */
export const paramFilters = z
  .record(z.string(), z.string().max(VALUE_MAX_LENGTH))
  .refine(
    (params) => Object.keys(params).every((name) => name !== "" && name.length <= NAME_MAX_LENGTH),
    `the name of a param has 1 to ${NAME_MAX_LENGTH} characters`,
  )
  .refine(
    (params) => Object.keys(params).length <= FILTERS_MAX,
    `at most ${FILTERS_MAX} params can be filtered by`,
  )
  .optional()
  .meta({
    description: `Runs with these values of params, such as \`param.depth=3\`; at most ${FILTERS_MAX}. Of a run with more than ${SEARCHED_PARAMS_MAX} params, the first ones by name are found`,
    propertyNames: { pattern: "^param\\." },
  });
