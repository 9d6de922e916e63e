import type { RequestInfo } from "../../http/route.ts";
import { documentsService } from "../service.ts";

/**
 * Returns the URL of an endpoint of this service as the client of a request reaches it, such as `callback/`. Headers that
 * a client can forge do not matter: the gateway has checked the host.
 */
export function endpointUrl(request: Pick<RequestInfo, "address">, path: string): URL {
  const requested = new URL(request.address());
  const base = `${documentsService.basePath}/`;
  // API Gateway's stage may precede the base path.
  const stage = requested.pathname.slice(0, requested.pathname.lastIndexOf(base));
  return new URL(`${stage}${base}${path}`, requested.origin);
}
