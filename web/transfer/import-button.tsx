import type { ReactNode } from "react";
import { Button } from "../components/button.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { ImportTarget } from "./import-target.tsx";
import { useImport } from "./use-import.ts";

/** Imports files by a dialog or by dropping them on the page. */
export function ImportButton(): ReactNode {
  const { t } = useTranslation();
  const { isEnabled, choose } = useImport();
  return (
    <>
      {isEnabled && (
        <Button variant="default" onClick={() => choose()}>
          {t("import.button")}
        </Button>
      )}
      <ImportTarget />
    </>
  );
}
