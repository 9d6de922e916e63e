import { ApiError } from "../../errors.ts";
import { TooDeep } from "../tree/place.ts";

const MESSAGE = "There are as many levels as there may be.";

/** What is planned, or `bad_request` where a tree would be deeper than it may be. Reference 2.1. */
export function withinLevels<Planned>(plan: () => Planned): Planned {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    throw new ApiError("bad_request", MESSAGE, { body: { non_field_errors: [MESSAGE] } });
  }
}
