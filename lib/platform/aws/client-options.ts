export type Environment = Readonly<Record<string, string | undefined>>;

type Service = "DYNAMODB" | "SQS" | "EVENTBRIDGE" | "S3" | "SSM" | "LAMBDA";

/** The SDK requires a region; emulators accept any. */
const EMULATED_REGION = "us-east-1";
const CONNECTION_TIMEOUT_MS = 2_000;
/** A request and its retries. A client whose requests keep failing exhausts its retry budget earlier. */
const ATTEMPTS = 4;

/** The endpoint that the environment configures for a service; undefined for AWS itself. */
export function endpointOf(environment: Environment, service: Service): string | undefined {
  return environment[`AWS_ENDPOINT_URL_${service}`] || environment.AWS_ENDPOINT_URL || undefined;
}

/** Timeouts and attempts of a client that override the defaults. */
export interface RetryLimits {
  readonly requestTimeoutMs?: number;
  readonly attempts?: number;
}

/** What the clients of all services have in common. */
export interface Connection {
  /** Endpoints, region and credentials, as for the AWS CLI. */
  readonly environment: Environment;
  /** Default: the region of the environment. */
  readonly region?: string | undefined;
  readonly patience?: RetryLimits | undefined;
}

/** Endpoint, region, keep-alive connections, timeouts and the retry budget of one service's client. */
export function clientOptions(
  { environment, region, patience = {} }: Connection,
  service: Service,
  requestTimeout: number,
  maxSockets: number,
) {
  const endpoint = endpointOf(environment, service);
  const chosen = region ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || undefined);
  const where = chosen ?? (endpoint === undefined ? undefined : EMULATED_REGION);
  const agent = { keepAlive: true, maxSockets };
  return {
    ...(where === undefined ? {} : { region: where }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: patience.attempts ?? ATTEMPTS,
    retryMode: "standard",
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: patience.requestTimeoutMs ?? requestTimeout,
      throwOnRequestTimeout: true,
      // Timeout of a stalled response; longer than the longest wait for a message.
      socketTimeout: 30_000,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}
