import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly eventbridge: EventBridgeClient;
  readonly s3: S3Client;
  /** Aborts pending requests and closes the connections. */
  close(): void;
}

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

/** Endpoint, region, connections and timeouts of one service's client, from the environment. */
export function clientOptions(
  environment: Environment,
  service: Service,
  requestTimeout: number,
  maxSockets: number,
  {
    region,
    patience: retryLimits = {},
  }: { readonly region?: string | undefined; readonly patience?: RetryLimits } = {},
) {
  const endpoint = endpointOf(environment, service);
  const chosen = region ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || undefined);
  const where = chosen ?? (endpoint === undefined ? undefined : EMULATED_REGION);
  const agent = { keepAlive: true, maxSockets };
  return {
    ...(where === undefined ? {} : { region: where }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: retryLimits.attempts ?? ATTEMPTS,
    retryMode: "standard",
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: retryLimits.requestTimeoutMs ?? requestTimeout,
      throwOnRequestTimeout: true,
      // Timeout of a stalled response; longer than the longest wait for a message.
      socketTimeout: 30_000,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

/**
 * One client per service, with keep-alive connections, a timeout for every request and a retry budget. Endpoints,
 * region and credentials come from the environment, as for the AWS CLI.
 */
export function awsClients(
  environment: Environment,
  region?: string,
  patience: RetryLimits = {},
): AwsClients {
  const options = (service: Service, requestTimeout: number, maxSockets: number) =>
    clientOptions(environment, service, requestTimeout, maxSockets, { region, patience });
  const dynamodb = new DynamoDBClient(options("DYNAMODB", 5_000, 128));
  // Every poller occupies a connection while it waits.
  const sqs = new SQSClient(options("SQS", 10_000, 1024));
  const eventbridge = new EventBridgeClient(options("EVENTBRIDGE", 10_000, 64));
  const s3 = new S3Client({
    ...options("S3", 30_000, 64),
    // Emulators do not support virtual-hosted bucket names.
    forcePathStyle: endpointOf(environment, "S3") !== undefined,
  });
  return {
    dynamodb,
    sqs,
    eventbridge,
    s3,
    close: () => {
      for (const client of [dynamodb, sqs, eventbridge, s3]) client.destroy();
    },
  };
}
