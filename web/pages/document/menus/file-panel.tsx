import { FilePanelExtension } from "@blocknote/core/extensions";
import { useExtension, useExtensionState } from "@blocknote/react";
import { type ReactNode, useId, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { messageOf } from "../../../components/error-state.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { shownUrl } from "../blocks/attachments.ts";
import { type EditorBlock, type PartialEditorBlock, useBlockEditor } from "../document-schema.ts";
import { Floating } from "./floating.tsx";
import classes from "./menus.module.css";

const LENGTH_MAX = 2_000;
const FIELDS = ["name", "caption", "alt"] as const;

/** The panel of a block with a file: uploads one, or names where it is; its name, caption and description. */
export function FilePanel(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const panel = useExtension(FilePanelExtension);
  const id = useExtensionState(FilePanelExtension);
  const block = id === undefined ? undefined : editor.getBlock(id);
  if (block === undefined || !("url" in block.props)) return null;
  const close = (): void => {
    panel.closeMenu();
    editor.focus();
  };
  return (
    <Floating
      rect={() =>
        editor.domElement?.querySelector(`[data-id="${CSS.escape(block.id)}"]`)?.getBoundingClientRect()
      }
      side="below"
      className={classes.panel}
      role="dialog"
      aria-label={t("editor.file")}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        close();
      }}
    >
      <FileForm key={block.id} block={block as EditorBlock} onDone={close} />
    </Floating>
  );
}

interface FormProps {
  readonly block: EditorBlock;
  readonly onDone: () => void;
}

function FileForm({ block, onDone }: FormProps): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const ids = useId();
  const props = block.props as Readonly<Record<string, unknown>>;
  const propOf = (name: string): string => (typeof props[name] === "string" ? props[name] : "");
  const [url, setUrl] = useState(propOf("url"));
  const [texts, setTexts] = useState(() => FIELDS.map(propOf));
  const [error, setError] = useState("");
  const [isUploading, setUploading] = useState(false);
  const accept = editor.schema.blockSpecs[block.type].implementation.meta?.fileBlockAccept;
  const upload = async (file: File): Promise<void> => {
    setUploading(true);
    setError("");
    try {
      const uploaded = await editor.uploadFile?.(file, block.id);
      const given = typeof uploaded === "string" ? { props: { url: uploaded, name: file.name } } : uploaded;
      if (given !== undefined && editor.getBlock(block.id) !== undefined) editor.updateBlock(block.id, given);
      onDone();
    } catch (failure) {
      setError(messageOf(failure as Error, t));
      setUploading(false);
    }
  };
  const save = (): void => {
    if (url !== "" && shownUrl(url) === undefined) {
      setError(t("editor.file_url_invalid"));
      return;
    }
    const named = Object.fromEntries(
      FIELDS.flatMap((name, at) => (name in props ? [[name, texts[at]]] : [])),
    );
    editor.updateBlock(block.id, { props: { ...named, url } } as PartialEditorBlock);
    onDone();
  };
  return (
    <form
      className={classes.file}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {editor.uploadFile !== undefined && (
        <label className={classes.upload}>
          {t(
            isUploading ? "editor.uploading" : propOf("url") === "" ? "editor.upload" : "editor.upload_other",
          )}
          <input
            type="file"
            // biome-ignore lint/a11y/noAutofocus: the user has just asked for it
            autoFocus
            accept={accept?.join(",")}
            disabled={isUploading}
            onChange={({ currentTarget: { files } }) => {
              const file = files?.[0];
              if (file !== undefined) void upload(file);
            }}
          />
        </label>
      )}
      <label htmlFor={`${ids}-url`}>{t("editor.file_url")}</label>
      <input
        id={`${ids}-url`}
        value={url}
        maxLength={LENGTH_MAX}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      {FIELDS.map(
        (name, at) =>
          name in props && (
            <div key={name}>
              <label htmlFor={`${ids}-${name}`}>{t(`editor.file_${name}`)}</label>
              <input
                id={`${ids}-${name}`}
                value={texts[at]}
                maxLength={LENGTH_MAX}
                onChange={({ currentTarget: { value } }) => setTexts(texts.with(at, value))}
              />
            </div>
          ),
      )}
      {error !== "" && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
      <div className={classes.actions}>
        <Button size="compact-sm" variant="default" onClick={onDone}>
          {t("editor.cancel")}
        </Button>
        <Button type="submit" size="compact-sm" disabled={isUploading}>
          {t("editor.save")}
        </Button>
      </div>
    </form>
  );
}
