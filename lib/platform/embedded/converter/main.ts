import { endWithParent } from "./end-with-parent.ts";
import type { FromConverter, ToConverter } from "./protocol.ts";

/** The conversion process: ends when the server ends or disconnects. */
process.on("disconnect", () => process.exit(0));
endWithParent();

function tell(message: FromConverter): void {
  process.send?.(message);
}

const { convert } = await import("../../../conversion/convert.ts");

process.on("message", async ({ id, conversion }: ToConverter) => {
  try {
    tell({ kind: "converted", id, value: await convert(conversion) });
  } catch (error) {
    tell({ kind: "refused", id, why: String(error).slice(0, 500) });
  }
});
tell({ kind: "ready" });
