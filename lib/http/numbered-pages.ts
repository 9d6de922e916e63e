import * as z from "zod";
import { ApiError } from "../errors.ts";
import type { RequestInfo } from "./route.ts";

/** Default and maximum of records on a page. Reference: documents 1.0. */
export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 200;

const COUNT = /^[1-9]\d{0,8}$/;
/** Any number of digits: a size above the maximum counts as the maximum. */
const SIZE = /^[1-9]\d*$/;

/** `page` and `page_size` of a list; an invalid size counts as the default. */
export const numberedQuery = {
  page: z.string().optional().meta({ description: "From 1", type: "integer", minimum: 1, default: 1 }),
  page_size: z
    .string()
    .optional()
    .transform((text) =>
      text !== undefined && SIZE.test(text) ? Math.min(Number(text), PAGE_SIZE_MAX) : PAGE_SIZE_DEFAULT,
    )
    .meta({
      description: `Number of records per page, at most ${PAGE_SIZE_MAX}`,
      type: "integer",
      minimum: 1,
      default: PAGE_SIZE_DEFAULT,
    }),
};

/** Schema of a page. */
export const numbered = <Item extends z.ZodType>(item: Item) =>
  z.object({
    count: z.int().describe("Number of records on all pages"),
    next: z.string().nullable().describe("URL of the next page"),
    previous: z.string().nullable(),
    results: z.array(item),
  });

interface PageQuery {
  readonly page?: string | undefined;
  readonly page_size: number;
}

/** The requested page. An invalid number counts as the first: `numberedResponse` refuses it, after authorization. */
export function numberedPage({ page = "1", page_size }: PageQuery): {
  readonly offset: number;
  readonly limit: number;
} {
  const number = COUNT.test(page) ? Number(page) : 1;
  return { offset: (number - 1) * page_size, limit: page_size };
}

/** The page with the URLs of its neighbours. Throws `not_found` if it does not exist. */
export function numberedResponse<Item>(
  request: Pick<RequestInfo, "address">,
  query: PageQuery,
  { count, results }: { readonly count: number; readonly results: readonly Item[] },
) {
  const page = Number(query.page ?? "1");
  const isPage = COUNT.test(query.page ?? "1") && (page === 1 || results.length > 0);
  if (!isPage) throw new ApiError("not_found", "Invalid page.");
  const last = Math.max(1, Math.ceil(count / query.page_size));
  const address = (number: number): string => {
    const url = new URL(request.address());
    // Django REST Framework leaves out the number of the first page.
    if (number === 1) url.searchParams.delete("page");
    else url.searchParams.set("page", String(number));
    return url.href;
  };
  return {
    count,
    next: page < last ? address(page + 1) : null,
    previous: page > 1 ? address(page - 1) : null,
    results: [...results],
  };
}
