/**
 * Signing up by an address alone. The server draws a form that works by itself; touched, it goes on in place.
 */
import { useStore } from '@nanostores/react';
import { useState } from 'react';
import * as calls from '../../lib/accounts/client.ts';
import { useFlow } from '../SignIn/use-flow.ts';
import { useSocialWindow } from '../SignIn/use-social-window.ts';
import { useScripted } from '../shared/form.tsx';
import { SocialButtons } from '../shared/SocialButtons.tsx';
import type { Provider } from '../shared/social.ts';
import { NewsletterForm } from './NewsletterForm.tsx';
import styles from './Newsletters.module.css';
import { createNewsletterFlow } from './newsletter-flow.ts';
import { Subscribed } from './Subscribed.tsx';

interface Props {
  /** `bar` is one line with the providers' marks behind it, `sheet` a form of a page. */
  shape: 'bar' | 'sheet';
  returnTo: string;
  providers?: readonly Provider[];
  label?: string;
  submit?: string;
  email?: string | undefined;
  problem?: string | undefined;
}

export default function Newsletters(props: Props) {
  const { shape, returnTo, providers = [], label = 'Email address', submit = 'Subscribe', email = '', problem } = props;
  const [flow] = useState(() => createNewsletterFlow(calls, { email, error: problem ?? null }));
  const state = useStore(flow.$state);
  const scripted = useScripted();
  const bar = shape === 'bar';
  // Providers sign a reader in; a signed-in reader has no need of this form, which styles put away then.
  const signIn = useFlow({ redirect: returnTo, onSignedIn: () => {} });
  const social = useStore(signIn.$state);
  const choose = useSocialWindow(signIn, returnTo);

  if (state.step === 'done' || social.step === 'sent') return <Subscribed inline={bar} />;
  return (
    <div className={bar ? styles.bar : styles.sheet}>
      <NewsletterForm
        email={state.email}
        error={state.error ?? social.error?.text ?? null}
        busy={state.busy}
        label={label}
        submit={submit}
        returnTo={returnTo}
        inline={bar}
        scripted={scripted}
        onSubmit={flow.submit}
      />
      <SocialButtons
        providers={providers}
        returnTo={returnTo}
        waiting={social.social}
        compact={bar}
        onChoose={choose}
      />
    </div>
  );
}
