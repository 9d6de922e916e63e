import { expect, it } from "vitest";
import { createApiClient } from "./api.ts";

it("sends each property of an object in a query as a parameter of its own", async () => {
  const urls: string[] = [];
  const client = createApiClient({
    origin: "http://weft.test",
    fetch: async (request) => {
      urls.push(request.url);
      return Response.json({ data: [], pagination: { total: 0, offset: 0, limit: 20 } });
    },
  });
  const query = { status: "failed", offset: 0, param: { "param.a&b": "x y", "param.depth": "3" } };
  await client.GET("/automation/runs", { params: { query } });
  expect(urls).toEqual([
    "http://weft.test/automation/runs?status=failed&offset=0&param.a%26b=x+y&param.depth=3",
  ]);
});
