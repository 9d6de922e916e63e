import { useConfig } from "../api/config.ts";
import { importFiles } from "./imports.ts";

interface Import {
  /** Whether the server imports files. */
  readonly isEnabled: boolean;
  /** The file name extensions for a file dialog. */
  readonly accept: string;
  readonly start: (files: readonly File[], parent?: string) => void;
  /** Lets the user choose files. */
  readonly choose: (parent?: string) => void;
}

/** The import of files, if the server's configuration allows it. */
export function useImport(): Import {
  const { data: config } = useConfig();
  const accept = config?.CONVERSION_FILE_EXTENSIONS_ALLOWED.join(",") ?? "";
  const start = (files: readonly File[], parent?: string): void => {
    if (config !== undefined) void importFiles(files, parent, config);
  };
  return {
    isEnabled: config?.CONVERSION_UPLOAD_ENABLED === true,
    accept,
    start,
    choose: (parent) => {
      const input = document.createElement("input");
      input.type = "file";
      input.multiple = true;
      input.accept = accept;
      input.addEventListener("change", () => start([...(input.files ?? [])], parent));
      input.click();
    },
  };
}
