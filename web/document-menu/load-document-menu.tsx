import { type ComponentProps, type ReactNode, useState } from "react";
import { later } from "../components/later.tsx";
import type { DocumentMenu as LoadedMenu } from "./document-menu.tsx";

type Props = ComponentProps<typeof LoadedMenu>;

const Menu = later(async () => (await import("./document-menu.tsx")).DocumentMenu, {
  texts: ["tree", "transfer"],
  before: ({ children }: Props) => children,
});

/** The menu of a document. Only its button is shown until it is first opened; then it is loaded with its texts. */
export function DocumentMenu(props: Props): ReactNode {
  // It stays after it was closed: it has the dialogs of its items.
  const [wasOpened, setWasOpened] = useState(props.isOpen);
  if (props.isOpen && !wasOpened) setWasOpened(true);
  return wasOpened ? <Menu {...props} /> : props.children;
}
