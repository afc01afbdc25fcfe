/** Draws the sign-in flow: one of three views for its state. */
import { useStore } from '@nanostores/react';
import { useEffect, useRef } from 'react';
import { codeKey } from '../../lib/accounts/client.ts';
import { $gaveAddress } from '../../stores/persisted.ts';
import { Consent } from '../shared/form.tsx';
import { useScripted } from '../shared/notice.tsx';
import type { Provider } from '../shared/social.ts';
import { CodeView } from './CodeView.tsx';
import { EmailView } from './EmailView.tsx';
import type { Flow } from './flow.ts';
import { SentView } from './SentView.tsx';
import { useSocialWindow } from './use-social-window.ts';

interface Props {
  flow: Flow;
  providers: readonly Provider[];
  /** Path on this site to come back to. */
  returnTo: string;
  /** Whether the address has the focus at once. */
  focused?: boolean;
}

export function SignInPanel({ flow, providers, returnTo, focused = false }: Props) {
  const state = useStore(flow.$state);
  const { step, email, busy, resent, error } = state;
  // What the server has drawn must be drawn once more before it can differ.
  const scripted = useScripted();
  const edited = useRef(false);
  if (step !== 'email') edited.current = true;

  const sent = step === 'sent' || step === 'code';
  useEffect(() => {
    if (sent) $gaveAddress.set(true);
  }, [sent]);

  const choose = useSocialWindow(flow, returnTo);
  const said = (...where: string[]) => (error && where.includes(error.where) ? error.text : null);

  if (step === 'sent')
    return (
      <SentView
        email={email}
        error={said('email', 'form', 'code')}
        busy={busy}
        resent={resent}
        onEdit={flow.edit}
        onResend={flow.resend}
        onUseCode={codeKey() === null ? null : flow.useCode}
      />
    );
  if (step === 'code')
    return (
      <CodeView
        email={email}
        error={said('code')}
        trouble={said('email', 'form')}
        busy={busy}
        resent={resent}
        onConfirm={flow.confirm}
        onResend={flow.resend}
        onEdit={flow.edit}
      />
    );
  return (
    <>
      <EmailView
        email={email}
        error={said('email', 'code')}
        trouble={said('form')}
        busy={busy || step === 'done'}
        providers={providers}
        waiting={state.social}
        returnTo={returnTo}
        scripted={scripted}
        focused={focused || edited.current}
        onSubmit={flow.submit}
        onProvider={choose}
      />
      <Consent />
    </>
  );
}
