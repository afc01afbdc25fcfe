import { useStore } from '@nanostores/react';
import type { Provider } from '../../lib/accounts/service.ts';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Dialog } from '../shared/Dialog.tsx';
/**
 * Popups to sign in by: the auth popup, which `$ui` opens with its options, and the welcome popup (spec sections 2 and 4).
 * A page carries neither; `scripts/popups.ts` fetches this when one is opened first.
 */

import { createRoot } from 'react-dom/client';
import { popupMessages } from '../../lib/accounts/messages.ts';
import { $ui, closeAuthPopup, setWelcomePopup } from '../../stores/ui.ts';

export function Popups({ providers }: { providers: readonly Provider[] }) {
  const { authPopup, welcomePopup } = useStore($ui, { keys: ['authPopup', 'welcomePopup'] });
  if (authPopup)
    return (
      <SignInDialog
        key="auth"
        heading={authPopup.heading ?? popupMessages.signIn}
        standfirst={authPopup.showSigninDialog ? popupMessages.haveAccount : undefined}
        providers={providers}
        onClose={closeAuthPopup}
      />
    );
  if (welcomePopup)
    return (
      <SignInDialog
        key="welcome"
        heading={popupMessages.welcome}
        providers={providers}
        onClose={() => setWelcomePopup(false)}
      />
    );
  return null;
}

/** Draws the popups from now on. */
export function mount(host: HTMLElement, providers: readonly Provider[]): void {
  createRoot(host).render(<Popups providers={providers} />);
}

/** The sign-in panel on a sheet over the page. */

interface Props {
  heading: string;
  standfirst?: string | undefined;
  providers: readonly Provider[];
  onClose(): void;
}

export function SignInDialog({ heading, standfirst, providers, onClose }: Props) {
  const here = location.pathname + location.search;
  const flow = useFlow({
    redirect: here,
    surface: 'popup',
    onSignedIn: () => {
      onClose();
      // What ends at the paywall for a stranger may go on for this reader; the server knows.
      if (document.querySelector('section[data-paywall]')) location.reload();
    },
  });
  const { step } = useStore(flow.$state);
  return (
    <Dialog heading={heading} standfirst={standfirst} quiet={step === 'sent' || step === 'code'} onClose={onClose}>
      <SignInPanel flow={flow} providers={providers} returnTo={here} focused />
    </Dialog>
  );
}
