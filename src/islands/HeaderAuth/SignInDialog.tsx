/** The sign-in panel on a sheet over the page. */
import { useStore } from '@nanostores/react';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Dialog } from '../shared/Dialog.tsx';
import type { Provider } from '../shared/social.ts';

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
