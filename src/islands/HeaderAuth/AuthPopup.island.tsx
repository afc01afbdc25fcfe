/**
 * Popups to sign in by: the auth popup, which `$ui` opens with its options, and the welcome popup (spec sections 2 and 4).
 * A page carries neither; `scripts/popups.ts` fetches this when one is opened first.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { popupMessages } from '../../lib/accounts/popup-messages.ts';
import { $ui, closeAuthPopup, setWelcomePopup } from '../../stores/ui.ts';
import type { Provider } from '../shared/social.ts';
import { SignInDialog } from './SignInDialog.tsx';

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
