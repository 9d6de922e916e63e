import { useEffect } from "react";

/** Names the page in the window and in the browser's history. */
export function useWindowTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Weft" : `${title} · Weft`;
  }, [title]);
}
