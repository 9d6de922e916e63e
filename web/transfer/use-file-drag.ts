import { useEffect, useState } from "react";

/** Whether files are dragged over the window. */
export function useFileDrag(): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const enter = ({ dataTransfer }: DragEvent): void => {
      if (dataTransfer?.types.includes("Files") === true) setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.type === "drop" || event.relatedTarget === null) setOver(false);
    };
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", leave);
    return () => {
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", leave);
    };
  }, []);
  return isOver;
}
