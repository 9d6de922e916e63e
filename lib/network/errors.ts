import { AddressRefused } from "./policy.ts";

/** A request without a complete response. */
export class RequestFailed extends Error {
  /** Whether a retry may succeed. */
  readonly passing: boolean;
  constructor(message: string, options: { readonly passing: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "RequestFailed";
    this.passing = options.passing;
  }
}

const TRUST = "; to trust it, name its certificate's file in NODE_EXTRA_CA_CERTS";

/** Certificate errors by error code. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed${TRUST}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is signed by an authority that is not trusted${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT: `the issuer of its certificate is unknown${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the issuer of its certificate is unknown${TRUST}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `it does not send the certificate of its issuer${TRUST}`,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: look at the clocks",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

const NETWORK_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be resolved now",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "the host does not answer",
  HPE_HEADER_OVERFLOW: "the headers of the answer are too large",
};

/** Converts a socket error to one that describes the failure; `what` is the request, without secrets. */
export function toRequestFailed(what: string, thrown: unknown): RequestFailed {
  if (thrown instanceof RequestFailed) return thrown;
  const failed = (reason: string, passing: boolean): RequestFailed =>
    new RequestFailed(`${what} failed: ${reason}`, { passing, cause: thrown });
  if (thrown instanceof AddressRefused) return failed(thrown.message, false);
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const name = typeof code === "string" ? code : "";
  const certificate = Object.hasOwn(CERTIFICATE_FAULTS, name) ? CERTIFICATE_FAULTS[name] : undefined;
  if (certificate !== undefined) return failed(`${certificate} (${name})`, false);
  if (name === "EPROTO" || name.startsWith("ERR_SSL"))
    return failed(`it does not speak TLS as this machine does (${name})`, false);
  const fault = Object.hasOwn(NETWORK_FAULTS, name) ? NETWORK_FAULTS[name] : undefined;
  if (fault !== undefined) return failed(`${fault} (${name})`, true);
  return failed(name === "" ? String(message) : `${String(message)} (${name})`, !name.startsWith("HPE_"));
}
