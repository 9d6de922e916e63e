import type { DragEvent, ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./transfer.module.css";
import { useFileDrag } from "./use-file-drag.ts";
import { useImport } from "./use-import.ts";

/** Imports files that are dropped on the page. */
export function ImportTarget(): ReactNode {
  const { t } = useTranslation();
  const { isEnabled, start } = useImport();
  const isOver = useFileDrag();
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    start([...event.dataTransfer.files]);
  };
  return (
    isEnabled &&
    isOver && (
      // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same
      <div className={classes.target} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
        {t("import.drop")}
      </div>
    )
  );
}
