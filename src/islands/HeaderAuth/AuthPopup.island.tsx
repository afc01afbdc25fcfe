/**
 * Popups to sign in by: the auth popup, which `$ui` opens with its options, and the welcome popup (spec sections 2 and 4).
 * A page carries neither; `scripts/popups.ts` fetches this when one is opened first.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { $ui, closeAuthPopup, setWelcomePopup } from '../../stores/ui.ts';
import type { Provider } from '../shared/social.ts';
import { SignInDialog } from './SignInDialog.tsx';

export const authHeading = 'Sign in or create a free account';
export const signInNote = 'Have an account? Use this form to sign in.';
export const welcomeHeading = 'Sign up for breaking news and exclusive daily updates';

export function Popups({ providers }: { providers: readonly Provider[] }) {
  const { authPopup, welcomePopup } = useStore($ui, { keys: ['authPopup', 'welcomePopup'] });
  if (authPopup)
    return (
      <SignInDialog
        key="auth"
        heading={authPopup.heading ?? authHeading}
        standfirst={authPopup.showSigninDialog ? signInNote : undefined}
        providers={providers}
        onClose={closeAuthPopup}
      />
    );
  if (welcomePopup)
    return (
      <SignInDialog
        key="welcome"
        heading={welcomeHeading}
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
