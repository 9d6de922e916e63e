import { LinkToolbarExtension } from "@blocknote/core/extensions";
import { useEditorState, useExtension } from "@blocknote/react";
import { IconExternalLink, IconPencil, IconUnlink } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { Floating } from "./floating.tsx";
import { LinkForm } from "./link-form.tsx";
import classes from "./menus.module.css";
import { typedUrl } from "./typed-url.ts";

const ICON_SIZE = 16;

interface ShownLink {
  readonly url: string;
  readonly text: string;
  readonly from: number;
}

/** The address of the link at the cursor, which can be opened, changed and removed. */
export function LinkToolbar(): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const links = useExtension(LinkToolbarExtension);
  const [edited, setEdited] = useState<ShownLink>();
  const link = useEditorState({
    editor,
    selector: (): ShownLink | undefined => {
      const found = links.getLinkAtSelection();
      return found && { url: String(found.mark.attrs.href), text: found.text, from: found.range.from };
    },
  });
  const shown = edited ?? link;
  if (shown === undefined) return null;
  const rect = () => links.getLinkElementAtPos(shown.from)?.getBoundingClientRect();
  const finish = (): void => {
    setEdited(undefined);
    editor.focus();
  };
  if (edited !== undefined)
    return (
      <Floating rect={rect} side="below" className={classes.panel}>
        <LinkForm
          url={edited.url}
          onCancel={finish}
          onSubmit={(url) => {
            links.editLink(url, edited.text, edited.from);
            finish();
          }}
        />
      </Floating>
    );
  const safe = typedUrl(shown.url);
  return (
    <Floating rect={rect} side="below" className={classes.toolbar}>
      <div role="toolbar" aria-label={t("editor.link")}>
        {safe === undefined ? (
          <span className={classes.tool}>{shown.url}</span>
        ) : (
          <a className={classes.tool} href={safe} target="_blank" rel="noreferrer">
            <span className={classes.address}>{shown.url}</span>
            <IconExternalLink size={ICON_SIZE} stroke={1.75} aria-hidden />
          </a>
        )}
        <button
          type="button"
          className={classes.tool}
          aria-label={t("editor.link_edit")}
          title={t("editor.link_edit")}
          onClick={() => setEdited(shown)}
        >
          <IconPencil size={ICON_SIZE} stroke={1.75} aria-hidden />
        </button>
        <button
          type="button"
          className={classes.tool}
          aria-label={t("editor.link_remove")}
          title={t("editor.link_remove")}
          onClick={() => {
            links.deleteLink(shown.from);
            editor.focus();
          }}
        >
          <IconUnlink size={ICON_SIZE} stroke={1.75} aria-hidden />
        </button>
      </div>
    </Floating>
  );
}
