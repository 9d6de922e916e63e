import i18next from "i18next";
import { attachmentKeyOf, isUnsafe, mediaState, shownUrl } from "./attachments.ts";

interface View {
  readonly dom: HTMLElement | DocumentFragment;
  readonly destroy?: () => void;
}
interface FileBlock {
  readonly id: string;
  readonly props: { readonly url: string; readonly name: string };
}
interface UploadingEditor {
  readonly isEditable: boolean;
  readonly onUploadStart: (callback: (blockId?: string) => void) => () => void;
}

/**
 * Adds to a block with a file: a link to it, a button that works by keyboard, and its state while it is uploaded or
 * checked, or if it is not available.
 */
export function withMediaState<Spec extends { readonly implementation: object }>(spec: Spec): Spec {
  const { render } = spec.implementation as {
    readonly render: (this: unknown, block: FileBlock, editor: UploadingEditor) => View;
  };
  return {
    ...spec,
    implementation: {
      ...spec.implementation,
      render(this: unknown, block: FileBlock, editor: UploadingEditor) {
        const view = render.call(this, block, editor);
        const stop =
          block.props.url === "" ? prepareEmpty(view.dom, block, editor) : prepareFile(view.dom, block);
        return {
          ...view,
          destroy: () => {
            stop();
            view.destroy?.();
          },
        };
      },
    },
  };
}

function prepareEmpty(dom: View["dom"], block: FileBlock, editor: UploadingEditor): () => void {
  const button = dom.querySelector<HTMLElement>(".bn-add-file-button");
  if (button !== null && editor.isEditable) {
    button.role = "button";
    button.tabIndex = 0;
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      button.click();
    });
  }
  const wrapper = button?.parentElement;
  return editor.onUploadStart((blockId) => {
    const loading = wrapper?.querySelector(".bn-file-loading-preview");
    if (blockId === block.id && loading) loading.textContent = i18next.t("document.uploading");
  });
}

function prepareFile(dom: View["dom"], { props: { url, name } }: FileBlock): () => void {
  const place = dom.querySelector<HTMLElement>(".bn-file-block-content-wrapper") ?? dom;
  const label = dom.querySelector<HTMLElement>(".bn-file-name");
  const safe = shownUrl(url);
  if (label !== null && safe !== undefined) {
    const link = document.createElement("a");
    link.className = label.className;
    link.textContent = name === "" ? url : name;
    link.href = safe;
    link.target = "_blank";
    link.rel = "noreferrer";
    link.contentEditable = "false";
    label.replaceWith(link);
  }
  if (isUnsafe(url)) place.append(note("document.file_unsafe"));
  const key = attachmentKeyOf(url);
  const media = dom.querySelector<HTMLMediaElement | HTMLImageElement>("img, video, audio");
  if (key === undefined) return () => undefined;
  const abort = new AbortController();
  const follow = (): void => void showState(place, key, media, abort.signal);
  // A shown picture is available. Another file says nothing by itself.
  if (media === null) follow();
  else media.addEventListener("error", follow, { once: true });
  return () => abort.abort();
}

/** Says that a file is being checked, until it is available. */
async function showState(
  place: View["dom"],
  key: string,
  media: HTMLMediaElement | HTMLImageElement | null,
  signal: AbortSignal,
): Promise<void> {
  let shown: HTMLElement | undefined;
  for await (const state of mediaState(key, signal)) {
    shown?.remove();
    shown = undefined;
    if (state === "ready") {
      if (media !== null) media.src = `/media/${key}`;
      return;
    }
    shown = note(state === "processing" ? "document.file_checking" : "document.file_missing");
    place.append(shown);
  }
}

function note(
  text: "document.file_unsafe" | "document.file_checking" | "document.file_missing",
): HTMLElement {
  const element = document.createElement("p");
  element.className = "file-note";
  element.role = "status";
  element.contentEditable = "false";
  element.textContent = i18next.t(text);
  return element;
}
