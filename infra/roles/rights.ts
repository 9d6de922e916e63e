/** A right that a request takes: an action of IAM, and the ARN of what it is done to. */
export interface Right {
  readonly action: string;
  readonly resource: string;
}

/** Stands for where everything is: requests and policies are compared as if all were there. */
export const PLACE = { partition: "aws", region: "us-east-1", account: "123456789012" } as const;

export function arn(service: string, name: string): string {
  return `arn:${PLACE.partition}:${service}:${PLACE.region}:${PLACE.account}:${name}`;
}

/** Objects and buckets belong to no region and no account. */
export const s3Arn = (name: string): string => `arn:${PLACE.partition}:s3:::${name}`;

/** The input of a command of AWS's SDK. */
export type CommandInput = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const partsOf = (value: unknown): readonly CommandInput[] =>
  Array.isArray(value) ? (value as CommandInput[]) : [];

const onTable = (operation: string, { TableName, IndexName }: CommandInput): Right => ({
  action: `dynamodb:${operation}`,
  resource: arn(
    "dynamodb",
    `table/${text(TableName)}${IndexName === undefined ? "" : `/index/${text(IndexName)}`}`,
  ),
});
const onQueue =
  (operation: string) =>
  ({ QueueUrl, QueueName }: CommandInput): Right[] => [
    { action: `sqs:${operation}`, resource: arn("sqs", text(QueueName) || nameIn(text(QueueUrl))) },
  ];
const nameIn = (url: string): string => url.split("/").at(-1) ?? "";
/** Rules of schedules are on the account's default bus, whose name is not in theirs. */
const onRule =
  (operation: string) =>
  ({ Name, Rule, NamePrefix }: CommandInput): Right[] => [
    { action: `events:${operation}`, resource: arn("events", `rule/${text(Name ?? Rule ?? NamePrefix)}`) },
  ];
const onObject =
  (operation: string) =>
  ({ Bucket, Key }: CommandInput): Right[] => [
    { action: `s3:${operation}`, resource: s3Arn(`${text(Bucket)}/${text(Key)}`) },
  ];

/** Of a transaction IAM looks at what is done to each item. */
const TRANSACTED = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
} as const;

function transacted({ TransactItems }: CommandInput): Right[] {
  return partsOf(TransactItems).flatMap((item) =>
    Object.entries(TRANSACTED).flatMap(([name, operation]) =>
      item[name] === undefined ? [] : [onTable(operation, item[name] as CommandInput)],
    ),
  );
}

/** What the SDK's commands take; named by their classes. */
const COMMANDS: Readonly<Record<string, (input: CommandInput) => Right[]>> = {
  GetItemCommand: (input) => [onTable("GetItem", input)],
  PutItemCommand: (input) => [onTable("PutItem", input)],
  UpdateItemCommand: (input) => [onTable("UpdateItem", input)],
  DeleteItemCommand: (input) => [onTable("DeleteItem", input)],
  QueryCommand: (input) => [onTable("Query", input)],
  BatchGetItemCommand: ({ RequestItems }) =>
    Object.keys(RequestItems as CommandInput).map((TableName) => onTable("BatchGetItem", { TableName })),
  TransactWriteItemsCommand: transacted,
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
    // The name begins with the slash that stands between.
    { action: "ssm:GetParameter", resource: arn("ssm", `parameter${text(Name)}`) },
  ],
};

const listing = (bucket: unknown): Right => ({ action: "s3:ListBucket", resource: s3Arn(text(bucket)) });

/** The rights that a command takes. Of one that is not known here nobody has the right: it has to be added. */
export function rightsOf(command: string, input: CommandInput): readonly Right[] {
  return COMMANDS[command]?.(input) ?? [{ action: `unknown:${command}`, resource: "*" }];
}

/** S3 says that an object is not there to those alone who may list the bucket, else that it may not be read. */
export function rightsOfAbsence(error: unknown, { Bucket }: CommandInput): readonly Right[] {
  const name = error instanceof Error ? error.name : "";
  return name === "NoSuchKey" || name === "NotFound" ? [listing(Bucket)] : [];
}
