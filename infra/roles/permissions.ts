/** A right that a request needs: an IAM action and the ARN of the resource. */
export interface Permission {
  readonly action: string;
  readonly resource: string;
}

/** Account and region of all resources: requests and policies are compared within one account and region. */
export const ACCOUNT_AND_REGION = { partition: "aws", region: "us-east-1", account: "123456789012" } as const;

export function arn(service: string, name: string): string {
  return `arn:${ACCOUNT_AND_REGION.partition}:${service}:${ACCOUNT_AND_REGION.region}:${ACCOUNT_AND_REGION.account}:${name}`;
}

/** ARNs of objects and buckets have no region and no account. */
export const s3Arn = (name: string): string => `arn:${ACCOUNT_AND_REGION.partition}:s3:::${name}`;

/** The input of an SDK command. */
export type CommandInput = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const partsOf = (value: unknown): readonly CommandInput[] =>
  Array.isArray(value) ? (value as CommandInput[]) : [];

const onTable = (operation: string, { TableName, IndexName }: CommandInput): Permission => ({
  action: `dynamodb:${operation}`,
  resource: arn(
    "dynamodb",
    `table/${text(TableName)}${IndexName === undefined ? "" : `/index/${text(IndexName)}`}`,
  ),
});
const onQueue =
  (operation: string) =>
  ({ QueueUrl, QueueName }: CommandInput): Permission[] => [
    { action: `sqs:${operation}`, resource: arn("sqs", text(QueueName) || queueName(text(QueueUrl))) },
  ];
const queueName = (url: string): string => url.split("/").at(-1) ?? "";
/** Rules of schedules are on the account's default bus, whose name is not part of theirs. */
const onRule =
  (operation: string) =>
  ({ Name, Rule, NamePrefix }: CommandInput): Permission[] => [
    { action: `events:${operation}`, resource: arn("events", `rule/${text(Name ?? Rule ?? NamePrefix)}`) },
  ];
const onObject =
  (operation: string) =>
  ({ Bucket, Key }: CommandInput): Permission[] => [
    { action: `s3:${operation}`, resource: s3Arn(`${text(Bucket)}/${text(Key)}`) },
  ];

/** IAM checks each item of a transaction. */
const TRANSACTION_ACTIONS = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
} as const;

function transactionRights({ TransactItems }: CommandInput): Permission[] {
  return partsOf(TransactItems).flatMap((item) =>
    Object.entries(TRANSACTION_ACTIONS).flatMap(([name, operation]) =>
      item[name] === undefined ? [] : [onTable(operation, item[name] as CommandInput)],
    ),
  );
}

/** The rights that SDK commands need, by class name. */
const COMMANDS: Readonly<Record<string, (input: CommandInput) => Permission[]>> = {
  GetItemCommand: (input) => [onTable("GetItem", input)],
  PutItemCommand: (input) => [onTable("PutItem", input)],
  UpdateItemCommand: (input) => [onTable("UpdateItem", input)],
  DeleteItemCommand: (input) => [onTable("DeleteItem", input)],
  QueryCommand: (input) => [onTable("Query", input)],
  BatchGetItemCommand: ({ RequestItems }) =>
    Object.keys(RequestItems as CommandInput).map((TableName) => onTable("BatchGetItem", { TableName })),
  TransactWriteItemsCommand: transactionRights,
  GetQueueUrlCommand: onQueue("GetQueueUrl"),
  GetQueueAttributesCommand: onQueue("GetQueueAttributes"),
  SendMessageBatchCommand: onQueue("SendMessage"),
  ReceiveMessageCommand: onQueue("ReceiveMessage"),
  DeleteMessageBatchCommand: onQueue("DeleteMessage"),
  ChangeMessageVisibilityCommand: onQueue("ChangeMessageVisibility"),
  PutEventsCommand: ({ Entries }) =>
    partsOf(Entries).map(({ EventBusName }) => ({
      action: "events:PutEvents",
      resource: arn("events", `event-bus/${text(EventBusName)}`),
    })),
  ListRulesCommand: onRule("ListRules"),
  PutRuleCommand: onRule("PutRule"),
  DeleteRuleCommand: onRule("DeleteRule"),
  PutTargetsCommand: onRule("PutTargets"),
  RemoveTargetsCommand: onRule("RemoveTargets"),
  PutObjectCommand: onObject("PutObject"),
  GetObjectCommand: onObject("GetObject"),
  HeadObjectCommand: onObject("GetObject"),
  DeleteObjectsCommand: ({ Bucket, Delete }) =>
    partsOf((Delete as CommandInput | undefined)?.Objects).flatMap(({ Key }) =>
      onObject("DeleteObject")({ Bucket, Key }),
    ),
  ListObjectsV2Command: ({ Bucket }) => [listing(Bucket)],
  InvokeCommand: ({ FunctionName }) => [
    { action: "lambda:InvokeFunction", resource: arn("lambda", `function:${text(FunctionName)}`) },
  ],
  GetParameterCommand: ({ Name }) => [
    // The name begins with the slash that separates it.
    { action: "ssm:GetParameter", resource: arn("ssm", `parameter${text(Name)}`) },
  ],
};

const listing = (bucket: unknown): Permission => ({ action: "s3:ListBucket", resource: s3Arn(text(bucket)) });

/** The rights that a command needs. Throws for a command that is missing here. */
export function requiredPermissions(command: string, input: CommandInput): readonly Permission[] {
  return COMMANDS[command]?.(input) ?? [{ action: `unknown:${command}`, resource: "*" }];
}

/** Without the right to list the bucket, S3 returns 403 instead of 404 for a missing object. */
export function missingObjectPermissions(error: unknown, { Bucket }: CommandInput): readonly Permission[] {
  const name = error instanceof Error ? error.name : "";
  return name === "NoSuchKey" || name === "NotFound" ? [listing(Bucket)] : [];
}
