import * as z from "zod";

/** The one organisation of an installation. Reference 6. */
export const DEFAULT_ORG = "00000000-0000-0000-0000-000000000001";

/** Filter by organisation: there is one, by its id or as `default`; any other is unknown. Reference 1.6. */
export const orgQuery = z
  .string()
  .optional()
  .refine(
    (org) => org === undefined || org === "" || org === "default" || org === DEFAULT_ORG,
    "unknown organisation",
  );
