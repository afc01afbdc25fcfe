/**
 * The paywall, which `$ui` opens with what is to be bought. No page carries it: `scripts/paywall.ts` fetches it when it is opened
 * first.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { $ui } from '../../stores/ui.ts';
import { PaywallDialog } from './PaywallDialog.tsx';

export function Paywall() {
  const { paywall } = useStore($ui, { keys: ['paywall'] });
  return paywall.open ? <PaywallDialog key={JSON.stringify(paywall.payload)} payload={paywall.payload} /> : null;
}

/** Draws the paywall from now on. */
export function mount(host: HTMLElement): void {
  createRoot(host).render(<Paywall />);
}
