import { AddressDeniedError } from "./policy.ts";

/** A request without a complete response. */
export class RequestError extends Error {
  /** Whether a retry may succeed. */
  readonly passing: boolean;
  constructor(message: string, options: { readonly passing: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "RequestError";
    this.passing = options.passing;
  }
}

const TRUST = "; to trust it, set NODE_EXTRA_CA_CERTS to its certificate's file";

/** Certificate errors by error code. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed${TRUST}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is signed by an authority that is not trusted${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT: `the issuer of its certificate is unknown${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the issuer of its certificate is unknown${TRUST}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `it does not send the certificate of its issuer${TRUST}`,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: check the clocks of both machines",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

const NETWORK_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  ENOTFOUND: "the host does not exist",
  EAI_AGAIN: "the host name cannot be resolved at the moment",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  ETIMEDOUT: "the host does not respond",
  HPE_HEADER_OVERFLOW: "the headers of the response are too large",
};

/** Converts a socket error to one that describes the failure; `what` is the request, without secrets. */
export function toRequestError(what: string, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const failed = (reason: string, passing: boolean): RequestError =>
    new RequestError(`${what} failed: ${reason}`, { passing, cause: thrown });
  if (thrown instanceof AddressDeniedError) return failed(thrown.message, false);
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const name = typeof code === "string" ? code : "";
  const certificate = Object.hasOwn(CERTIFICATE_FAULTS, name) ? CERTIFICATE_FAULTS[name] : undefined;
  if (certificate !== undefined) return failed(`${certificate} (${name})`, false);
  if (name === "EPROTO" || name.startsWith("ERR_SSL"))
    return failed(`it supports no TLS version or cipher of this machine (${name})`, false);
  const fault = Object.hasOwn(NETWORK_FAULTS, name) ? NETWORK_FAULTS[name] : undefined;
  if (fault !== undefined) return failed(`${fault} (${name})`, true);
  return failed(name === "" ? String(message) : `${String(message)} (${name})`, !name.startsWith("HPE_"));
}
