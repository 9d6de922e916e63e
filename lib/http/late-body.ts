import * as z from "zod";
import { ApiError } from "../errors.ts";
import { fieldErrors, fieldWords } from "./field-words.ts";

/**
 * A body that a route looks at when it gets to it: where who may not do a thing is told so before what is wrong with the
 * request. `body()` answers it, and throws `bad_request` by field. Reference: documents 3.3.
 */
export const lateBody = <Body extends z.ZodType>(schema: Body) =>
  z
    .unknown()
    .meta({ late: schema })
    .transform((value) => (): z.output<Body> => {
      const parsed = schema.safeParse(value, { error: fieldWords });
      if (parsed.success) return parsed.data;
      const body = fieldErrors(parsed.error.issues);
      throw new ApiError("bad_request", "The request is not valid", { body });
    });
