import { expect, it } from "vitest";
import { signedHeaders } from "./signature.ts";

const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

it("signs AWS's own example as its guide says", () => {
  const headers = signedHeaders({
    method: "GET",
    url: new URL("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"),
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body: "",
    region: "us-east-1",
    service: "iam",
    credentials,
    at: Date.parse("2015-08-30T12:36:00Z"),
  });

  expect(headers["x-amz-date"]).toBe("20150830T123600Z");
  expect(headers["authorization"]).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  );
});

it("signs the token of a role's credentials with the rest", () => {
  const headers = signedHeaders({
    method: "POST",
    url: new URL("https://ssm.eu-west-1.amazonaws.com/"),
    headers: {},
    body: "{}",
    region: "eu-west-1",
    service: "ssm",
    credentials: { ...credentials, sessionToken: "a-session" },
    at: 0,
  });

  expect(headers["x-amz-security-token"]).toBe("a-session");
  expect(headers["authorization"]).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token,");
});
