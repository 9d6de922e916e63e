import "../shell/dialog.css";
import { Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Mantine } from "./mantine.tsx";

interface Props extends Pick<ModalProps, "returnFocus" | "size"> {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog. Load it when it is needed. */
export function Dialog({ isOpen = true, ...props }: Props): ReactNode {
  const { t } = useTranslation();
  return (
    <Mantine>
      <Modal
        opened={isOpen}
        closeButtonProps={{ "aria-label": t("app.close") }}
        transitionProps={{ duration: 0 }}
        {...props}
      />
    </Mantine>
  );
}
