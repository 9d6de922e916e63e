import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PNG, uploadFile } from "#lib/testing/test-attachments.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const DENIED = { detail: "You do not have permission to perform this action." };
const OTHER_FILE = "22222222-2222-4222-8222-222222222222.png";

let test: TestDeps;
let gateway: TestGateway;
let id: string;
let key: string;
async function open(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  test = await testDeps({ settings });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: { title: "Root" } })).body.id;
  ({ key } = await uploadFile(gateway, id, "photo.png", PNG));
}
async function close(): Promise<void> {
  await gateway.close();
  await test.close();
}
beforeEach(() => open());
afterEach(close);

const urlOf = (document = id, file = key.slice(key.lastIndexOf("/") + 1)): string =>
  `/media/${document}/attachments/${file}`;
const uploadTo = async (document: string): Promise<string> =>
  `/media/${(await uploadFile(gateway, document, "photo.png", PNG)).key}`;
const ask = async (url: string, token: string | null = null, header = "x-original-url") => {
  const { status, body } = await gateway.request("GET", "/documents/media-auth/", {
    token,
    headers: { [header]: url },
  });
  return [status, body];
};
const AUTHORIZED = [200, "authorized"];
const REFUSED = [403, DENIED];

describe("a gateway's request for an attachment", () => {
  it("is authorized for those with a role on the document or an ancestor", async () => {
    const child = (await gateway.request("POST", `/documents/${id}/children/`, { body: {} })).body.id;
    const [ann, ben] = [await createUser(test.deps, "ann"), await createUser(test.deps, "ben")];
    await grantRole(test.deps, id, ann.id, "reader");
    for (const url of [urlOf(), await uploadTo(child)]) {
      expect(await ask(url, ann.token)).toEqual(AUTHORIZED);
      expect(await ask(url, ben.token)).toEqual(REFUSED);
      expect(await ask(url)).toEqual(REFUSED);
    }
  });

  it("is authorized by the link of the document or an ancestor, without a visit", async () => {
    const child = (await gateway.request("POST", `/documents/${id}/children/`, { body: {} })).body.id;
    const { token } = await createUser(test.deps, "ann");
    const url = await uploadTo(child);
    await setLink(test.deps, id, "authenticated", "reader");
    expect(await ask(url, token)).toEqual(AUTHORIZED);
    expect(await ask(url)).toEqual(REFUSED);
    await setLink(test.deps, id, "public", "reader");
    expect(await ask(url)).toEqual(AUTHORIZED);
  });

  it("is still authorized for a deleted document", async () => {
    await setLink(test.deps, id, "public", "reader");
    await gateway.request("DELETE", `/documents/${id}/`);
    expect(await ask(urlOf())).toEqual(AUTHORIZED);
  });

  it.each([(url: string) => `https://docs.example.org${url}`, (url: string) => `${url}?download=1`])(
    "may have a whole URL and a query (%#)",
    async (change) => {
      await setLink(test.deps, id, "public", "reader");
      expect(await ask(change(urlOf()))).toEqual(AUTHORIZED);
    },
  );

  it.each<readonly [string, (url: string) => string]>([
    ["no URL", () => ""],
    ["another path", (url) => url.replace("/media/", "/other/")],
    ["a prefix", (url) => `/x${url}`],
    ["a suffix", (url) => `${url}/x`],
    ["dot segments", (url) => url.replace("/media/", "/media/../media/")],
    ["encoded characters", (url) => url.replace("/attachments/", "/%61ttachments/")],
    ["an encoded slash", (url) => url.replace("/attachments/", "%2Fattachments/")],
    ["a fragment", (url) => `${url}#x`],
    ["no extension", (url) => url.replace(".png", "")],
    ["a long extension", (url) => url.replace(".png", `.${"x".repeat(11)}`)],
    ["two extensions", (url) => url.replace(".png", ".tar.gz")],
    ["another document", () => urlOf("33333333-3333-4333-8333-333333333333")],
    ["another file name", () => urlOf(undefined, "photo.png")],
    ["an unknown file", () => urlOf(undefined, OTHER_FILE)],
    ["another extension", (url) => url.replace(".png", ".gif")],
    ["an unsafe mark", (url) => url.replace(".png", "-unsafe.png")],
    ["capitals in the id", () => urlOf(id.toUpperCase())],
    ["a long query", (url) => `${url}?${"x".repeat(3000)}`],
    ["another protocol", (url) => `file://host${url}`],
  ])("with %s is refused", async (_, change) => {
    await setLink(test.deps, id, "public", "reader");
    expect(await ask(change(urlOf()))).toEqual(REFUSED);
  });

  it("names its URL in the configured header", async () => {
    await setLink(test.deps, id, "public", "reader");
    expect(await ask(urlOf(), null, "x-forwarded-uri")).toEqual(REFUSED);
    await close();
    await open({ MEDIA_AUTH_ORIGINAL_URL_HEADER: "HTTP_X_FORWARDED_URI" });
    await setLink(test.deps, id, "public", "reader");
    expect(await ask(urlOf(), null, "x-forwarded-uri")).toEqual(AUTHORIZED);
    expect(await ask(urlOf())).toEqual(REFUSED);
  });
});
