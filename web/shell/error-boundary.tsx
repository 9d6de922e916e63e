import { Component, type ReactNode } from "react";
import { StatusPage } from "./status-page.tsx";

interface Props {
  readonly children: ReactNode;
}

/** Shows what to do if a page throws, which is an error of the interface. */
export class ErrorBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main>
        <StatusPage kind="failed" />
      </main>
    );
  }
}
