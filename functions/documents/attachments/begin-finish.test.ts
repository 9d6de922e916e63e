import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getMedia, PNG } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

let test: TestDeps;
let gateway: TestGateway;
let id: string;
beforeAll(async () => {
  test = await testDeps({ settings: { DOCUMENT_IMAGE_MAX_SIZE: "1000" } });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
const begin = (bytes: unknown, token = TEST_TOKEN) =>
  gateway.request("POST", `/documents/${id}/attachment-uploads/`, { body: { bytes }, token });
const finish = (upload: string, name: unknown = "photo.png", token = TEST_TOKEN) =>
  gateway.request("POST", `/documents/${id}/attachment-uploads/${upload}/finish/`, { body: { name }, token });
async function sent(content: Uint8Array): Promise<string> {
  const { body } = await begin(content.length);
  expect(await test.uploads.find(new URL(body.url).pathname)?.receive(once(content))).toBe("stored");
  return body.id;
}

describe("a file that is uploaded directly", () => {
  it("becomes an attachment when it is finished, once", async () => {
    const upload = await sent(PNG);
    const first = await finish(upload);
    expect(first.status).toBe(201);
    const key = new URL(first.body.file, gateway.url).searchParams.get("key") ?? "";
    expect(key).toBe(`${id}/attachments/${upload}.png`);
    expect(Buffer.from(await (await getMedia(gateway, key)).arrayBuffer()).equals(PNG)).toBe(true);
    const again = await finish(upload, "other.gif");
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  it("has the limits of a form, and a name", async () => {
    const { status, body } = await begin(1001);
    expect([status, body]).toEqual([400, { bytes: ["File size exceeds the maximum limit of 1000 bytes."] }]);
    expect((await begin(0)).status).toBe(400);
    expect((await begin("5")).body).toEqual({ bytes: ["A valid number is required."] });
    const upload = await sent(PNG);
    expect((await finish(upload, "")).body).toEqual({ name: ["This field may not be blank."] });
    expect((await finish(upload, "x".repeat(1001))).status).toBe(400);
  });

  it("can be finished by its user only", async () => {
    const ann = await createUser(test.deps, "ann");
    await grantRole(test.deps, id, ann.id, "editor");
    const upload = await sent(PNG);
    expect((await finish(upload, "photo.png", ann.token)).status).toBe(404);
    expect((await finish("22222222-2222-4222-8222-222222222222")).status).toBe(404);
    expect((await finish("x")).status).toBe(404);
  });
});
