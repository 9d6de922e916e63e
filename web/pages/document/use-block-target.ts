import { useEffect } from "react";
import { useQueryParameters } from "../../components/query-parameters.ts";

/** How long the block is marked, milliseconds. */
const MARKED_MS = 3_000;

/** Scrolls to the block that the address names, or to the first one with a text, and marks it for a moment. */
export function useBlockTarget(isShown: boolean): void {
  const [parameters] = useQueryParameters();
  const id = parameters.get("block");
  const text = parameters.get("find");
  useEffect(() => {
    if ((id === null && text === null) || !isShown) return;
    const find = (): boolean => {
      const block = blocks().find((one) =>
        id === null ? one.textContent.includes(text ?? "") : one.dataset.id === id,
      );
      if (block === undefined) return false;
      block.scrollIntoView({ block: "center" });
      block.setAttribute("data-found", "");
      setTimeout(() => block.removeAttribute("data-found"), MARKED_MS);
      return true;
    };
    if (find()) return;
    // The editor renders its text after it was created.
    const observer = new MutationObserver(() => {
      if (find()) observer.disconnect();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [id, text, isShown]);
}

const blocks = (): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>("[data-editor] .bn-block-outer[data-id]"),
];
