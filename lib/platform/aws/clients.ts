import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly eventbridge: EventBridgeClient;
  readonly s3: S3Client;
  /** Ends what is under way and closes the connections. */
  close(): void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type Service = "DYNAMODB" | "SQS" | "EVENTBRIDGE" | "S3" | "SSM" | "LAMBDA";

/** Emulators take any region, the SDK none is not enough for. */
const EMULATED_REGION = "us-east-1";
const CONNECTION_TIMEOUT_MS = 2_000;
/** A request and its repetitions; a client whose requests keep failing runs out of repetitions sooner. */
const ATTEMPTS = 4;

/** The endpoint that the environment names for a service; undefined for AWS itself. */
export function endpointOf(environment: Environment, service: Service): string | undefined {
  return environment[`AWS_ENDPOINT_URL_${service}`] || environment.AWS_ENDPOINT_URL || undefined;
}

/** How long and how often a client tries, where not as long as it does by itself. */
export interface Patience {
  readonly requestTimeoutMs?: number;
  readonly attempts?: number;
}

/** Endpoint, region, connections and patience of one service's client, as the environment has them. */
export function clientOptions(
  environment: Environment,
  service: Service,
  requestTimeout: number,
  maxSockets: number,
  { region, patience = {} }: { readonly region?: string | undefined; readonly patience?: Patience } = {},
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
      // Of a body that stops coming; above the longest wait for a message.
      socketTimeout: 30_000,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

/**
 * One client a service, with kept connections, a time limit on every request and a budget of repetitions.
 * Endpoints, region and credentials come from the environment as AWS's own tools read them.
 */
export function awsClients(environment: Environment, region?: string, patience: Patience = {}): AwsClients {
  const options = (service: Service, requestTimeout: number, maxSockets: number) =>
    clientOptions(environment, service, requestTimeout, maxSockets, { region, patience });
  const dynamodb = new DynamoDBClient(options("DYNAMODB", 5_000, 128));
  // Every poller holds a connection while it waits.
  const sqs = new SQSClient(options("SQS", 10_000, 1024));
  const eventbridge = new EventBridgeClient(options("EVENTBRIDGE", 10_000, 64));
  const s3 = new S3Client({
    ...options("S3", 30_000, 64),
    // Host names of buckets mean nothing to an emulator.
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
