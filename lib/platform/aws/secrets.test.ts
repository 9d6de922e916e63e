import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { storedSecrets } from "./secrets.ts";
import { serviceError } from "./test-mocks.ts";

/** Secrets over a parameter store that has what `parameters` says at the time, and the names it was asked for. */
function open(parameters: Record<string, string>, path: string | undefined = "/weft/secrets") {
  const client = new SSMClient({ region: "eu-west-1" });
  const mock = mockClient(client);
  onTestFinished(() => mock.restore());
  mock.on(GetParameterCommand).callsFake(({ Name }: { Name: string }) => {
    if (!Object.hasOwn(parameters, Name)) {
      throw new ParameterNotFound({ message: "from a test", $metadata: { httpStatusCode: 400 } });
    }
    return { Parameter: { Value: parameters[Name] } };
  });
  const asked = () => mock.commandCalls(GetParameterCommand).map(({ args }) => args[0].input.Name);
  const time = { now: 1_000_000 };
  const secrets = storedSecrets({ client, path, clock: { now: () => time.now } });
  return { secrets, asked, time, mock };
}

describe("secrets of the parameter store", () => {
  it("are parameters under the path, and redacted once they were read", async () => {
    const { secrets, asked } = open({
      "/weft/secrets/TOKEN": "hunter22",
      "/weft/secrets/OTHER": "swordfish",
    });

    expect(secrets.redact("a hunter22 and a swordfish")).toBe("a hunter22 and a swordfish");
    expect(await secrets.get("TOKEN")).toBe("hunter22");
    expect(await secrets.get("OTHER")).toBe("swordfish");
    expect(secrets.redact("a hunter22 and a swordfish")).toBe("a *** and a ***");
    expect(asked()).toEqual(["/weft/secrets/TOKEN", "/weft/secrets/OTHER"]);
  });

  it("are asked for again after a minute, and an old value stays redacted", async () => {
    const parameters = { "/weft/secrets/TOKEN": "hunter22" };
    const { secrets, asked, time } = open(parameters);
    expect(await Promise.all([secrets.get("TOKEN"), secrets.get("TOKEN")])).toEqual(["hunter22", "hunter22"]);
    parameters["/weft/secrets/TOKEN"] = "swordfish";

    time.now += 59_999;
    expect(await secrets.get("TOKEN")).toBe("hunter22");
    expect(asked()).toHaveLength(1);

    time.now += 1;
    expect(await secrets.get("TOKEN")).toBe("swordfish");
    expect(asked()).toHaveLength(2);
    expect(secrets.redact("hunter22 swordfish")).toBe("*** ***");
  });

  it("are found as soon as they are there", async () => {
    const parameters: Record<string, string> = {};
    const { secrets } = open(parameters);
    expect(await secrets.get("TOKEN")).toBeUndefined();

    parameters["/weft/secrets/TOKEN"] = "hunter22";
    expect(await secrets.get("TOKEN")).toBe("hunter22");
  });

  it.each(["a/b", "../access-token", "TOKEN:1", "", "a b", "x".repeat(513)])(
    "cannot be called %j, which is not asked for",
    async (name) => {
      const { secrets, asked } = open({});
      expect(await secrets.get(name)).toBeUndefined();
      expect(asked()).toEqual([]);
    },
  );

  it("are none without a path", async () => {
    const client = new SSMClient({ region: "eu-west-1" });
    const secrets = storedSecrets({ client, path: undefined, clock: { now: () => 0 } });
    expect(await secrets.get("TOKEN")).toBeUndefined();
  });

  it("are a fault to try again where the store is busy, which is not kept", async () => {
    const { secrets, mock } = open({ "/weft/secrets/TOKEN": "hunter22" });
    mock.on(GetParameterCommand).rejectsOnce(serviceError("ThrottlingException"));
    await expect(secrets.get("TOKEN")).rejects.toMatchObject({ name: "PlatformFault", code: "throttled" });

    mock.on(GetParameterCommand).resolves({ Parameter: { Value: "hunter22" } });
    expect(await secrets.get("TOKEN")).toBe("hunter22");
  });

  it("redact what they are told besides", () => {
    const { secrets } = open({});
    secrets.alsoRedact("the-access-token");
    expect(secrets.redact("Bearer the-access-token")).toBe("Bearer ***");
  });
});
