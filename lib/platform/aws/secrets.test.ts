import { describe, expect, it } from "vitest";
import { environmentSecrets } from "./secrets.ts";

describe("secrets of the environment", () => {
  it("are told by name and redacted", async () => {
    const secrets = environmentSecrets('{"TOKEN":"hunter22","OTHER":"swordfish"}');
    expect(await secrets.get("TOKEN")).toBe("hunter22");
    expect(await secrets.get("GONE")).toBeUndefined();
    expect(await secrets.get("constructor")).toBeUndefined();
    expect(secrets.redact("a hunter22 and a swordfish")).toBe("a *** and a ***");
  });

  it.each([undefined, "", "{}"])("are none for %j", async (text) => {
    expect(await environmentSecrets(text).get("TOKEN")).toBeUndefined();
  });

  it.each(["hunter22", '{"TOKEN":1}', '["hunter22"]', '{"TOKEN":"hunter22"'])(
    "are refused as %s, without a word of them",
    (text) => {
      expect(() => environmentSecrets(text)).toThrow(
        expect.objectContaining({
          code: "secrets_unreadable",
          message: expect.not.stringContaining("hunter"),
        }),
      );
    },
  );
});
