import { type ReactNode, useMemo } from "react";
import { useTranslation } from "../../i18n/use-translation.ts";
import type { RunStream } from "./run-stream.ts";
import { TextViewer } from "./text/text-viewer.tsx";
import { logSource } from "./text-sources.ts";

interface Props {
  readonly id: string;
  /** Undefined if the run has finished. */
  readonly stream: RunStream | undefined;
}

/** The log of a run, which grows while it runs. */
export function RunLog({ id, stream }: Props): ReactNode {
  const { t } = useTranslation();
  const source = useMemo(() => logSource({ id, stream }), [id, stream]);
  return (
    <TextViewer label={t("run.log")} source={source} fileName={`${id}.log.txt`} empty={t("run.no_log")} />
  );
}
