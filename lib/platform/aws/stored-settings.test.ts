import { readFile } from "node:fs/promises";
import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";
import { withStoredSettings } from "./stored-settings.ts";

const client = new SSMClient({ region: "us-east-1" });
const store = mockClient(client);
const path = "/weft/documents";
beforeEach(() => {
  store.reset();
  store.on(GetParameterCommand).rejects(new ParameterNotFound({ message: "none", $metadata: {} }));
});
const has = (name: string, Value: string) =>
  store
    .on(GetParameterCommand, { Name: `${path}/${name}`, WithDecryption: true })
    .resolves({ Parameter: { Value } });

it("settings that are named come from the parameter store, a file's content as a file", async () => {
  has("Y_PROVIDER_API_KEY", "a-key");
  has("THEME_CUSTOMIZATION_FILE_PATH", '{"a":1}');
  const { THEME_CUSTOMIZATION_FILE_PATH: theme = "", ...others } = await withStoredSettings(client, {
    WEFT_STACK: "weft",
    WEFT_DOCUMENT_SECRETS: " Y_PROVIDER_API_KEY, THEME_CUSTOMIZATION_FILE_PATH",
    WEFT_DOCUMENT_SECRETS_PATH: path,
  });
  expect(others).toMatchObject({ WEFT_STACK: "weft", Y_PROVIDER_API_KEY: "a-key" });
  expect(await readFile(theme, "utf8")).toBe('{"a":1}');
});

it("nothing is asked where none is named, and what is named has to be there and to be one of them", async () => {
  expect(await withStoredSettings(client, { WEFT_DOCUMENT_SECRETS: "" })).toEqual({
    WEFT_DOCUMENT_SECRETS: "",
  });
  expect(store.calls()).toEqual([]);
  const asked = (names: string) =>
    withStoredSettings(client, { WEFT_DOCUMENT_SECRETS: names, WEFT_DOCUMENT_SECRETS_PATH: path });
  await expect(asked("OIDC_RS_PRIVATE_KEY_STR")).rejects.toThrow(
    `no parameter ${path}/OIDC_RS_PRIVATE_KEY_STR`,
  );
  await expect(asked("WEFT_STACK")).rejects.toThrow("WEFT_STACK is none of PRIMARY_SDK_API_KEY");
});
