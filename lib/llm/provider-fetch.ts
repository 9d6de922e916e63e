import { createFetch } from "../network/fetch-adapter.ts";
import type { Network } from "../network/network.ts";

/** Maximum size of a response, streamed or not: a thousand embeddings take some tens of megabytes. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/**
 * The `fetch` of all client libraries of models: with the address policy, limited responses, and no redirects, so that a
 * key reaches only the origin that it was configured for. The libraries' headers describe this machine and are omitted.
 */
export const createProviderFetch = (network: Network): typeof fetch =>
  createFetch(network, {
    maxBytes: ANSWER_MAX_BYTES,
    keepHeader: (name) => name !== "user-agent" && !name.startsWith("x-stainless-"),
  });
