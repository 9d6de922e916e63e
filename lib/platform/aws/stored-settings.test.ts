import { readFile } from "node:fs/promises";
import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import * as ssmSdk from "./ssm-sdk.ts";
import { withStoredSettings } from "./stored-settings.ts";

const client = new SSMClient({ region: "us-east-1" });
const store = mockClient(client);
const path = "/weft/documents";
beforeEach(() => {
  store.reset();
  store.on(GetParameterCommand).rejects(new ParameterNotFound({ message: "none", $metadata: {} }));
});
const read = (environment: Record<string, string>) =>
  withStoredSettings(async () => ({ ...ssmSdk, client }), environment, {
    values: ["Y_PROVIDER_API_KEY", "OIDC_RS_PRIVATE_KEY_STR"],
    files: ["THEME_CUSTOMIZATION_FILE_PATH"],
  });
const has = (name: string, Value: string) =>
  store
    .on(GetParameterCommand, { Name: `${path}/${name}`, WithDecryption: true })
    .resolves({ Parameter: { Value } });

it("reads the listed settings, and writes the content of a file setting to a file", async () => {
  has("Y_PROVIDER_API_KEY", "a-key");
  has("THEME_CUSTOMIZATION_FILE_PATH", '{"a":1}');
  const { THEME_CUSTOMIZATION_FILE_PATH: theme = "", ...others } = await read({
    WEFT_STACK: "weft",
    WEFT_DOCUMENT_SECRETS: " Y_PROVIDER_API_KEY, THEME_CUSTOMIZATION_FILE_PATH",
    WEFT_DOCUMENT_SECRETS_PATH: path,
  });
  expect(others).toMatchObject({ WEFT_STACK: "weft", Y_PROVIDER_API_KEY: "a-key" });
  expect(await readFile(theme, "utf8")).toBe('{"a":1}');
});

it("reads nothing if the list is empty, and rejects missing parameters and unknown names", async () => {
  expect(await read({ WEFT_DOCUMENT_SECRETS: "" })).toEqual({ WEFT_DOCUMENT_SECRETS: "" });
  expect(store.calls()).toEqual([]);
  const readNamed = (names: string) =>
    read({ WEFT_DOCUMENT_SECRETS: names, WEFT_DOCUMENT_SECRETS_PATH: path });
  await expect(readNamed("OIDC_RS_PRIVATE_KEY_STR")).rejects.toThrow(
    `no parameter ${path}/OIDC_RS_PRIVATE_KEY_STR`,
  );
  await expect(readNamed("WEFT_STACK")).rejects.toThrow(
    "must contain only Y_PROVIDER_API_KEY, OIDC_RS_PRIVATE_KEY_STR, THEME_CUSTOMIZATION_FILE_PATH; remove WEFT_STACK",
  );
});
