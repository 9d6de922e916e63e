import { createApiClient } from "../../client/api.ts";
import { noteFailure, noteResponse } from "./connection.ts";
import { csrfHeaders } from "./csrf.ts";
import { takeEarly } from "./early-requests.ts";

/** The API of the server that served this page. */
export const api = createApiClient({
  origin: location.origin,
  headers: csrfHeaders,
  fetch: async (request) => {
    try {
      const response = await (takeEarly(request.method, request.url) ?? fetch(request));
      noteResponse();
      return response;
    } catch (error) {
      if (!request.signal.aborted) noteFailure();
      throw error;
    }
  },
});
