import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { storedSecrets } from "./secrets.ts";
import * as ssmSdk from "./ssm-sdk.ts";
import { serviceError } from "./test-mocks.ts";

/** Secrets over a parameter store with the current content of `parameters`, and the names that were requested. */
function open(parameters: Record<string, string>, path: string | undefined = "/weft/secrets") {
  const client = new SSMClient({ region: "eu-west-1" });
  const mock = mockClient(client);
  const ssm = async () => ({ ...ssmSdk, client });
  onTestFinished(() => mock.restore());
  mock.on(GetParameterCommand).callsFake(({ Name }: { Name: string }) => {
    if (!Object.hasOwn(parameters, Name)) {
      throw new ParameterNotFound({ message: "from a test", $metadata: { httpStatusCode: 400 } });
    }
    return { Parameter: { Value: parameters[Name] } };
  });
  const requested = () => mock.commandCalls(GetParameterCommand).map(({ args }) => args[0].input.Name);
  const time = { now: 1_000_000 };
  const secrets = storedSecrets({ ssm, path, clock: { now: () => time.now } });
  return { secrets, requested, time, mock };
}

describe("secrets of the parameter store", () => {
  it("are parameters under the path, and are redacted once they have been read", async () => {
    const { secrets, requested } = open({
      "/weft/secrets/TOKEN": "hunter22",
      "/weft/secrets/OTHER": "swordfish",
    });

    expect(secrets.redact("a hunter22 and a swordfish")).toBe("a hunter22 and a swordfish");
    expect(await secrets.get("TOKEN")).toBe("hunter22");
    expect(await secrets.get("OTHER")).toBe("swordfish");
    expect(secrets.redact("a hunter22 and a swordfish")).toBe("a *** and a ***");
    expect(requested()).toEqual(["/weft/secrets/TOKEN", "/weft/secrets/OTHER"]);
  });

  it("are read again after a minute, and an old value stays redacted", async () => {
    const parameters = { "/weft/secrets/TOKEN": "hunter22" };
    const { secrets, requested, time } = open(parameters);
    expect(await Promise.all([secrets.get("TOKEN"), secrets.get("TOKEN")])).toEqual(["hunter22", "hunter22"]);
    parameters["/weft/secrets/TOKEN"] = "swordfish";

    time.now += 59_999;
    expect(await secrets.get("TOKEN")).toBe("hunter22");
    expect(requested()).toHaveLength(1);

    time.now += 1;
    expect(await secrets.get("TOKEN")).toBe("swordfish");
    expect(requested()).toHaveLength(2);
    expect(secrets.redact("hunter22 swordfish")).toBe("*** ***");
  });

  it("are found as soon as they exist", async () => {
    const parameters: Record<string, string> = {};
    const { secrets } = open(parameters);
    expect(await secrets.get("TOKEN")).toBeUndefined();

    parameters["/weft/secrets/TOKEN"] = "hunter22";
    expect(await secrets.get("TOKEN")).toBe("hunter22");
  });

  it.each(["a/b", "../access-token", "TOKEN:1", "", "a b", "x".repeat(513)])(
    "rejects the name %j without a request",
    async (name) => {
      const { secrets, requested } = open({});
      expect(await secrets.get(name)).toBeUndefined();
      expect(requested()).toEqual([]);
    },
  );

  it("are empty without a path", async () => {
    const ssm = () => Promise.reject(new Error("nothing is read"));
    const secrets = storedSecrets({ ssm, path: undefined, clock: { now: () => 0 } });
    expect(await secrets.get("TOKEN")).toBeUndefined();
  });

  it("throw a retryable fault if the store is throttled, and do not cache it", async () => {
    const { secrets, mock } = open({ "/weft/secrets/TOKEN": "hunter22" });
    mock.on(GetParameterCommand).rejectsOnce(serviceError("ThrottlingException"));
    await expect(secrets.get("TOKEN")).rejects.toMatchObject({ name: "PlatformFault", code: "throttled" });

    mock.on(GetParameterCommand).resolves({ Parameter: { Value: "hunter22" } });
    expect(await secrets.get("TOKEN")).toBe("hunter22");
  });

  it("redact additional values", () => {
    const { secrets } = open({});
    secrets.alsoRedact("the-access-token");
    expect(secrets.redact("Bearer the-access-token")).toBe("Bearer ***");
  });
});
