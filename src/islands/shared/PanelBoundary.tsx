/** Around a panel's body: a fault of its drawing is the panel's alone, and can be tried again. */
import { Component, type ReactNode } from 'react';
import { PanelState } from './PanelState.tsx';

interface Props {
  children: ReactNode;
  /** A sentence in the place of what could not be drawn. */
  error?: string;
}

export class PanelBoundary extends Component<Props, { readonly broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError() {
    return { broken: true };
  }
  override render() {
    const { children, error } = this.props;
    if (!this.state.broken) return children;
    const retry = () => this.setState({ broken: false });
    return <PanelState phase="error" {...(error !== undefined && { error })} onRetry={retry} />;
  }
}
