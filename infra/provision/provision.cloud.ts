import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { provisionTemplate } from "../provision.ts";

describe("provisioning the template", () => {
  it("creates all resources, and changes nothing the second time", async () => {
    const stack = `provision-${randomUUID().slice(0, 8)}`;
    const first = await provisionTemplate(stack, process.env);
    expect(first).toMatchObject({ buses: 1, buckets: 1 });
    expect(Math.min(...Object.values(first))).toBeGreaterThan(0);
    expect(await provisionTemplate(stack, process.env)).toEqual(first);
  });
});
