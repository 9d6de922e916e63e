/** Environment of a process that uses LocalStack, which accepts any credentials. */
export const LOCALSTACK_DEFAULTS = {
  AWS_ENDPOINT_URL: "http://127.0.0.1:4566",
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
};
