import "../shell/menu.css";
import { Menu } from "@mantine/core";
import {
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconCornerDownRight,
  IconDownload,
  IconExternalLink,
  IconFilePlus,
  IconLink,
  IconLogout2,
  IconMarkdown,
  IconStar,
  IconTrash,
  IconUpload,
  IconUsers,
} from "@tabler/icons-react";
import {
  cloneElement,
  type ReactElement,
  type ReactNode,
  type Ref,
  useEffect,
  useRef,
  useState,
} from "react";
import { useLocation } from "wouter";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import {
  setFavorite,
  useCreateChild,
  useDeleteDocument,
  useDocumentChange,
} from "../api/document-changes.ts";
import { type Document, documentPath } from "../api/documents.ts";
import { copyText } from "../components/copy-text.ts";
import { messageOf } from "../components/error-state.tsx";
import { later } from "../components/later.tsx";
import { Mantine } from "../components/mantine.tsx";
import { showToast } from "../components/toasts.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { useImport } from "../transfer/use-import.ts";
import { useMove } from "./use-move.tsx";

const ICON_SIZE = 16;
const WIDTH = 224;

const ExportDialog = later(async () => (await import("../transfer/export-dialog.tsx")).ExportDialog);
const ShareDialog = later(
  async () => (await import("../pages/document/sharing/share-dialog.tsx")).ShareDialog,
  { texts: ["document"] },
);
const MoveDialog = later(async () => (await import("./move-dialog.tsx")).MoveDialog);

interface Props {
  readonly document: Document;
  /** The button that the menu belongs to. */
  readonly children: ReactElement<{ ref?: Ref<HTMLButtonElement> }>;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  /** Whether the document is listed, and not shown: the menu then opens and shares it, too. */
  readonly isListed?: boolean;
  /** Moves the document among those beside it, where that is known. */
  readonly moveBy?: { readonly up?: (() => void) | undefined; readonly down?: (() => void) | undefined };
  /** Called when the document was deleted or left. */
  readonly onGone?: () => void;
}

/** What can be done with a document, wherever it is listed. */
export function DocumentMenu(props: Props): ReactNode {
  const { document, isListed = false, moveBy, onGone } = props;
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const [openDialog, setOpenDialog] = useState<"move" | "export" | "share">();
  const { move, dialog } = useMove();
  const button = useRef<HTMLButtonElement>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    // The button that was pressed was replaced by this one: the menu opens from here, and the focus returns to it.
    if (globalThis.document.activeElement === globalThis.document.body) button.current?.focus();
    setReady(true);
  }, []);
  const closeDialog = (): void => {
    setOpenDialog(undefined);
    // The item of the menu that opened it is gone.
    button.current?.focus();
  };
  const { isEnabled: canImport, choose } = useImport();
  const { id, abilities, is_favorite: isFavorite } = document;
  const title = document.title ?? t("app.untitled");
  const createChild = useCreateChild(id);
  const favorite = useDocumentChange(() => setFavorite(id, !isFavorite));
  const remove = useDeleteDocument(document, onGone);
  const duplicate = useDocumentChange(
    () =>
      dataOf(
        api.POST("/api/v1.0/documents/{id}/duplicate", {
          params: { path: { id } },
          body: { with_accesses: false, with_descendants: false },
        }),
      ),
    (copy) =>
      showToast(t("menu.duplicated", { title }), {
        label: t("menu.open"),
        run: () => navigate(documentPath({ id: copy.id, title: document.title })),
      }),
  );
  const leave = useDocumentChange(
    () => api.POST("/api/v1.0/documents/{id}/leave", { params: { path: { id } } }),
    () => {
      showToast(t("menu.left", { title }));
      onGone?.();
    },
  );
  const copy = async (text: string, done: string): Promise<void> => {
    showToast((await copyText(text)) ? done : t("copy.refused"));
  };
  const copyMarkdown = (): Promise<void> =>
    markdownOf(id).then(
      (text) => copy(text, t("menu.markdown_copied")),
      (error: unknown) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    );
  return (
    <Mantine>
      <Menu
        opened={props.isOpen && isReady}
        onChange={props.onOpenChange}
        position="bottom-start"
        width={WIDTH}
        transitionProps={{ duration: 0 }}
      >
        <Menu.Target>{cloneElement(props.children, { ref: button })}</Menu.Target>
        <Menu.Dropdown>
          {isListed && (
            <>
              <Menu.Item
                component="a"
                href={documentPath(document)}
                target="_blank"
                leftSection={<IconExternalLink size={ICON_SIZE} />}
              >
                {t("menu.open_tab")}
              </Menu.Item>
              <Menu.Item leftSection={<IconUsers size={ICON_SIZE} />} onClick={() => setOpenDialog("share")}>
                {t("menu.share")}
              </Menu.Item>
            </>
          )}
          {abilities.children_create && (
            <Menu.Item leftSection={<IconFilePlus size={ICON_SIZE} />} onClick={() => createChild.mutate()}>
              {t("menu.new_child")}
            </Menu.Item>
          )}
          {abilities.favorite && (
            <Menu.Item leftSection={<IconStar size={ICON_SIZE} />} onClick={() => favorite.mutate()}>
              {t(isFavorite ? "menu.remove_favorite" : "menu.add_favorite")}
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconLink size={ICON_SIZE} />}
            onClick={() => void copy(location.origin + documentPath(document), t("menu.link_copied"))}
          >
            {t("menu.copy_link")}
          </Menu.Item>
          <Menu.Item leftSection={<IconMarkdown size={ICON_SIZE} />} onClick={() => void copyMarkdown()}>
            {t("menu.copy_markdown")}
          </Menu.Item>
          {abilities.duplicate && (
            <Menu.Item leftSection={<IconCopy size={ICON_SIZE} />} onClick={() => duplicate.mutate()}>
              {t("menu.duplicate")}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconDownload size={ICON_SIZE} />} onClick={() => setOpenDialog("export")}>
            {t("export.item")}
          </Menu.Item>
          {canImport && abilities.children_create && (
            <Menu.Item leftSection={<IconUpload size={ICON_SIZE} />} onClick={() => choose(id)}>
              {t("import.into")}
            </Menu.Item>
          )}
          {abilities.move && (
            <>
              <Menu.Divider />
              <Menu.Item
                leftSection={<IconCornerDownRight size={ICON_SIZE} />}
                onClick={() => setOpenDialog("move")}
              >
                {t("menu.move")}
              </Menu.Item>
              {moveBy?.up !== undefined && (
                <Menu.Item leftSection={<IconArrowUp size={ICON_SIZE} />} onClick={moveBy.up}>
                  {t("menu.move_up")}
                </Menu.Item>
              )}
              {moveBy?.down !== undefined && (
                <Menu.Item leftSection={<IconArrowDown size={ICON_SIZE} />} onClick={moveBy.down}>
                  {t("menu.move_down")}
                </Menu.Item>
              )}
            </>
          )}
          {(abilities.leave || abilities.destroy) && <Menu.Divider />}
          {abilities.leave && (
            <Menu.Item leftSection={<IconLogout2 size={ICON_SIZE} />} onClick={() => leave.mutate()}>
              {t("menu.leave")}
            </Menu.Item>
          )}
          {abilities.destroy && (
            <Menu.Item leftSection={<IconTrash size={ICON_SIZE} />} onClick={() => remove.mutate()}>
              {t("menu.delete")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {openDialog === "move" && (
        <MoveDialog document={document} onMove={(to) => move({ id, to })} onClose={closeDialog} />
      )}
      {openDialog === "export" && <ExportDialog document={document} onClose={closeDialog} />}
      {openDialog === "share" && <ShareDialog document={document} onClose={closeDialog} />}
      {dialog}
    </Mantine>
  );
}

/** The text of a document as Markdown, after its title. */
async function markdownOf(id: string): Promise<string> {
  const params = { path: { id }, query: { content_format: "markdown" } };
  const read: unknown = await dataOf(api.GET("/api/v1.0/documents/{id}/formatted-content", { params }));
  const { title, content } = read as { readonly title: string | null; readonly content: string | null };
  return [title === null ? "" : `# ${title}`, content ?? ""].filter((part) => part !== "").join("\n\n");
}
