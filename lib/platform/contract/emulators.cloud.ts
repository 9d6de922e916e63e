import { openCloudSubject } from "./aws-subject.ts";
import { contractSuite } from "./suite.ts";

contractSuite("AWS", openCloudSubject, {
  timersCannotBeRecalled: true,
  deduplicationEndsWithDelete: process.env.WEFT_EMULATED === "moto",
});
