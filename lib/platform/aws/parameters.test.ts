import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it, onTestFinished } from "vitest";
import { findParameter, readParameter } from "./parameters.ts";
import * as ssmSdk from "./ssm-sdk.ts";
import { serviceError } from "./test-mocks.ts";

function store() {
  const client = new SSMClient({ region: "eu-west-1" });
  const mock = mockClient(client);
  onTestFinished(() => mock.restore());
  return { ssm: async () => ({ ...ssmSdk, client }), mock };
}

const notFound = new ParameterNotFound({ message: "from a test", $metadata: { httpStatusCode: 400 } });

it("requests the decrypted value", async () => {
  const { ssm, mock } = store();
  mock.on(GetParameterCommand).resolves({ Parameter: { Name: "/weft/token", Value: "the value" } });

  expect(await readParameter(ssm, "/weft/token")).toBe("the value");

  expect(mock.commandCalls(GetParameterCommand).map(({ args }) => args[0].input)).toEqual([
    { Name: "/weft/token", WithDecryption: true },
  ]);
});

it("distinguishes a missing parameter from one that cannot be read", async () => {
  const { ssm, mock } = store();
  mock.on(GetParameterCommand).rejects(notFound);

  expect(await findParameter(ssm, "/weft/token")).toBeUndefined();
  await expect(readParameter(ssm, "/weft/token")).rejects.toThrow(
    "the parameter store has no parameter /weft/token",
  );

  mock.on(GetParameterCommand).rejects(serviceError("AccessDeniedException"));
  await expect(findParameter(ssm, "/weft/token")).rejects.toMatchObject({ name: "AccessDeniedException" });
});

it.each([
  ["ThrottlingException", 400, "throttled"],
  ["InternalServerError", 500, "unavailable"],
  ["TimeoutError", 408, "unavailable"],
])("says of %s that a later try may help", async (name, status, code) => {
  const { ssm, mock } = store();
  mock.on(GetParameterCommand).rejects(serviceError(name, status));

  await expect(readParameter(ssm, "/weft/token")).rejects.toMatchObject({ code });
});
