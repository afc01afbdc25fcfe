/**
 * The popups to sign in: the auth popup, which `$ui` opens with its options, and the welcome popup (spec sections 2 and 4). No page
 * includes them; `scripts/popups.ts` loads this module when one is first opened.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { popupMessages } from '../../lib/accounts/messages.ts';
import type { Provider } from '../../lib/accounts/service.ts';
import { $ui, closeAuthPopup, setWelcomePopup } from '../../stores/ui.ts';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Dialog } from '../shared/Dialog.tsx';

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

/** Renders the popups into an element. */
export function mount(host: HTMLElement, providers: readonly Provider[]): void {
  createRoot(host).render(<Popups providers={providers} />);
}

interface Props {
  heading: string;
  standfirst?: string | undefined;
  providers: readonly Provider[];
  onClose(): void;
}

/** The sign-in panel in a dialog. */
function SignInDialog({ heading, standfirst, providers, onClose }: Props) {
  const here = location.pathname + location.search;
  const flow = useFlow({
    redirect: here,
    surface: 'popup',
    onSignedIn: () => {
      onClose();
      // The server may render the whole article for this user.
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
