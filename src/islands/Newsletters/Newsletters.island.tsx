/** Signing up for newsletters with an email address. The server renders a form that posts by itself; once hydrated, it submits in place. */
import { useStore } from '@nanostores/react';
import { atom, type ReadableAtom } from 'nanostores';
import { useEffect, useId, useRef, useState } from 'react';
import * as client from '../../lib/accounts/client.ts';
import { formActions, formFields } from '../../lib/accounts/model.ts';
import type { Provider } from '../../lib/accounts/service.ts';
import { signUpMessages, webmail } from '../../lib/newsletters/schema.ts';
import { $gaveAddress } from '../../stores/persisted.ts';
import { useFlow, useSocialWindow } from '../SignIn/use-flow.ts';
import { EmailField, useEmailField } from '../shared/form.tsx';
import { emailProblem, messages, refusalMessage } from '../shared/messages.ts';
import { Notice, useScripted } from '../shared/notice.tsx';
import { SocialButtons } from '../shared/social.tsx';
import styles from './Newsletters.module.css';

interface Props {
  /** `bar` is one line with the providers' marks behind it, `sheet` a form of a page. */
  shape: 'bar' | 'sheet';
  returnTo: string;
  providers?: readonly Provider[];
  /** What the server found wrong, a sentence. */
  problem?: string | undefined;
}

export default function Newsletters({ shape, returnTo, providers = [], problem }: Props) {
  const [flow] = useState(() => createNewsletterFlow(client, { error: problem ?? null }));
  const state = useStore(flow.$state);
  const bar = shape === 'bar';
  // A provider signs the reader in, and styles hide this form from signed-in readers.
  const signIn = useFlow({ redirect: returnTo, onSignedIn: () => {} });
  const social = useStore(signIn.$state);
  const choose = useSocialWindow(signIn, returnTo);

  if (state.step === 'done' || social.step === 'sent') return <Subscribed bar={bar} />;
  return (
    <div className={bar ? styles.bar : styles.sheet}>
      <NewsletterForm
        email={state.email}
        busy={state.busy}
        error={state.error ?? social.error?.text ?? null}
        returnTo={returnTo}
        bar={bar}
        onSubmit={flow.submit}
      />
      <SocialButtons
        providers={providers}
        returnTo={returnTo}
        waiting={social.social}
        compact={bar}
        onChoose={(provider) => {
          flow.clear();
          choose(provider);
        }}
      />
    </div>
  );
}

interface NewsletterFormProps extends Pick<NewsletterState, 'email' | 'error' | 'busy'> {
  returnTo: string;
  /** In one line, with the label only for assistive technology. */
  bar: boolean;
  onSubmit(email: string): void;
}

function NewsletterForm({ email, error, busy, returnTo, bar, onSubmit }: NewsletterFormProps) {
  const id = useId();
  const scripted = useScripted();
  const { input, submit, take } = useEmailField(error, onSubmit);

  return (
    <form
      className={bar ? styles.inline : styles.form}
      method="post"
      action={formActions.newsletter}
      noValidate={scripted}
      aria-busy={busy}
      onSubmit={submit}
    >
      <label className={bar ? 'visually-hidden' : styles.label} htmlFor={`${id}-email`}>
        {signUpMessages.label}
      </label>
      <div className={styles.row}>
        <EmailField
          field={input}
          id={`${id}-email`}
          errorId={`${id}-error`}
          email={email}
          busy={busy}
          wrong={error !== null}
          placeholder={bar ? signUpMessages.label : undefined}
        />
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? signUpMessages.busy : bar ? signUpMessages.subscribe : signUpMessages.signUp}
        </button>
      </div>
      <Notice id={`${id}-error`} text={error} onSuggestion={take} plain={!scripted} />
      <input type="hidden" name={formFields.return} value={returnTo} />
    </form>
  );
}

/** The thanks take the focus, because the focused form has disappeared. */
function Subscribed({ bar }: { bar: boolean }) {
  const thanked = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    $gaveAddress.set(true);
    thanked.current?.focus();
  }, []);

  return (
    <div className={bar ? styles.doneInline : styles.done} role="status" data-subscribed="">
      <p className={styles.thanks} ref={thanked} tabIndex={-1}>
        {signUpMessages.thanks}
      </p>
      <p className={styles.next}>{signUpMessages.nextStep}</p>
      <ul className={styles.webmail}>
        {webmail.map(({ name, href }) => (
          <li key={name}>
            <a href={href} target="_blank" rel="noopener noreferrer">
              {signUpMessages.open(name)}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

export interface NewsletterState {
  readonly step: 'email' | 'done';
  readonly email: string;
  readonly busy: boolean;
  readonly error: string | null;
}

export type NewsletterCalls = Pick<typeof client, 'verifyEmail' | 'createUser'>;

export interface NewsletterFlow {
  readonly $state: ReadableAtom<NewsletterState>;
  submit(email: string): Promise<void>;
  /** Removes the error when the reader signs in another way. */
  clear(): void;
}

/** State and request of the sign-up (spec sections 2 and 7, POST /api/zephr-create). @param initial the server's values */
export function createNewsletterFlow(calls: NewsletterCalls, initial: Partial<NewsletterState> = {}): NewsletterFlow {
  const $state = atom<NewsletterState>({ step: 'email', email: '', busy: false, error: null, ...initial });
  const set = (change: Partial<NewsletterState>) => $state.set({ ...$state.get(), ...change });

  return {
    $state,
    clear: () => set({ error: null }),
    async submit(typed) {
      if ($state.get().busy) return;
      const email = typed.trim();
      set({ email, busy: true, error: null });
      const complaint = await emailProblem(email, calls.verifyEmail);
      if (complaint !== null) return set({ busy: false, error: complaint });
      const answer = await calls.createUser(email);
      if (!answer.ok)
        return set({ busy: false, error: refusalMessage(answer, answer.message ?? messages.createFailed) });
      set({ busy: false, step: 'done' });
    },
  };
}
