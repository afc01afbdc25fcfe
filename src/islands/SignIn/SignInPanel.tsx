/** The sign-in flow as one of three views. */
import { useStore } from '@nanostores/react';
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { codeKey } from '../../lib/accounts/client.ts';
import { codeMessages, signInMessages } from '../../lib/accounts/messages.ts';
import { formActions, formFields } from '../../lib/accounts/model.ts';
import type { Provider } from '../../lib/accounts/service.ts';
import { $gaveAddress } from '../../stores/persisted.ts';
import { Consent, EmailField, Resend, useEmailField } from '../shared/form.tsx';
import { Notice, useScripted } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import { SocialButtons } from '../shared/social.tsx';
import { CodeBoxes } from './CodeBoxes.tsx';
import type { Flow } from './flow.ts';
import styles from './SignIn.module.css';
import { useSocialWindow } from './use-flow.ts';

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
  const scripted = useScripted();
  const edited = useRef(false);
  if (step !== 'email') edited.current = true;

  const sent = step === 'sent' || step === 'code';
  useEffect(() => {
    if (sent) $gaveAddress.set(true);
  }, [sent]);

  const choose = useSocialWindow(flow, returnTo);
  const errorAt = (...where: string[]) => (error && where.includes(error.where) ? error.text : null);

  if (step === 'sent')
    return (
      <SentView
        email={email}
        error={errorAt('email', 'form', 'code')}
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
        error={errorAt('code')}
        trouble={errorAt('email', 'form')}
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
        error={errorAt('email', 'code')}
        trouble={errorAt('form')}
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

export interface EmailViewProps {
  email: string;
  /** Error of the field. */
  error: string | null;
  /** Error above the form, about anything but the address. */
  trouble: string | null;
  busy: boolean;
  providers: readonly Provider[];
  waiting: Provider | null;
  returnTo: string;
  /** Without a script, the browser checks the form and sends it. */
  scripted: boolean;
  focused: boolean;
  onSubmit(email: string): void;
  onProvider(provider: Provider): void;
}

/** The first step: an email address, or a social provider (spec section 2, "Email login panel"). */
export function EmailView(props: EmailViewProps) {
  const { email, error, trouble, busy, providers, waiting, returnTo, scripted, focused, onSubmit, onProvider } = props;
  const id = useId();
  const { input, submit, take } = useEmailField(error, onSubmit);

  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused, input]);

  return (
    <div className={styles.panel}>
      <Notice id={`${id}-trouble`} text={trouble} />
      <form
        className={styles.form}
        method="post"
        action={formActions.signIn}
        noValidate={scripted}
        aria-busy={busy}
        onSubmit={submit}
      >
        <label className={styles.label} htmlFor={`${id}-email`}>
          {signInMessages.label}
        </label>
        <EmailField
          field={input}
          id={`${id}-email`}
          errorId={`${id}-error`}
          email={email}
          busy={busy}
          wrong={error !== null}
        />
        <Notice id={`${id}-error`} text={error} onSuggestion={take} plain={!scripted} />
        <input type="hidden" name={formFields.return} value={returnTo} />
        <button className={`button ${styles.submit}`} type="submit" aria-disabled={busy}>
          {busy ? signInMessages.busy : signInMessages.submit}
        </button>
      </form>
      {providers.length > 0 && (
        <>
          <p className={parts.or}>or</p>
          <SocialButtons providers={providers} returnTo={returnTo} waiting={waiting} onChoose={onProvider} />
        </>
      )}
    </div>
  );
}

export interface SentViewProps {
  email: string;
  error: string | null;
  busy: boolean;
  resent: boolean;
  onEdit(): void;
  onResend(): void;
  /** `null` where there are no codes. */
  onUseCode: (() => void) | null;
}

/** A link was mailed (spec section 2, "Email login panel"): change the address, send the link again, or use a code. */
export function SentView({ email, error, busy, resent, onEdit, onResend, onUseCode }: SentViewProps) {
  const id = useId();
  const heading = useRef<HTMLParagraphElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <div className={styles.panel} data-step="sent" aria-busy={busy}>
      <p className={styles.lead} ref={heading} tabIndex={-1}>
        {signInMessages.sentTo}
      </p>
      <div className={styles.locked}>
        <label className="visually-hidden" htmlFor={`${id}-email`}>
          {signInMessages.address}
        </label>
        <input className={styles.lockedEmail} id={`${id}-email`} type="email" value={email} readOnly />
        <button type="button" className={parts.textButton} onClick={onEdit}>
          {signInMessages.edit}
        </button>
      </div>
      <p className={styles.note}>{signInMessages.note}</p>
      <Notice id={`${id}-error`} text={error} />
      <div className={styles.ways}>
        <Resend
          question={signInMessages.question}
          action={signInMessages.resend}
          resent={resent}
          busy={busy}
          onResend={onResend}
        />
        {onUseCode && (
          <button type="button" className="button button-plain" aria-disabled={busy} onClick={onUseCode}>
            {signInMessages.useCode}
          </button>
        )}
      </div>
    </div>
  );
}

export interface CodeViewProps extends Omit<SentViewProps, 'onUseCode'> {
  /** Any error that isn't the code's. */
  trouble: string | null;
  onConfirm(code: string): void;
}

/** Entering the six digits of a mail (spec section 2, "Code view"). */
export function CodeView(props: CodeViewProps) {
  const { email, error, trouble, busy, resent } = props;
  const id = useId();
  const [code, setCode] = useState('');
  // After a wrong code, the user submits the next one with the button (spec section 2).
  const failed = useRef(false);
  useEffect(() => {
    if (error !== null) failed.current = true;
  }, [error]);
  // A new code empties the boxes.
  const [sent, setSent] = useState(0);
  useEffect(() => {
    if (!resent) return;
    setCode('');
    setSent((count) => count + 1);
  }, [resent]);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    props.onConfirm(code);
  }

  return (
    <div className={styles.panel} data-step="code">
      <h2 className={styles.heading}>{codeMessages.heading}</h2>
      <p className={styles.note}>
        {codeMessages.sentTo} <b className={styles.address}>{email}</b>.{' '}
        <button type="button" className={parts.textButton} onClick={props.onEdit}>
          {signInMessages.edit}
        </button>
      </p>
      <form className={styles.form} aria-busy={busy} onSubmit={submit}>
        <CodeBoxes
          key={sent}
          describedBy={`${id}-error`}
          invalid={error !== null}
          disabled={busy}
          onChange={setCode}
          onComplete={(whole) => {
            if (!failed.current) props.onConfirm(whole);
          }}
        />
        <Notice id={`${id}-error`} text={error} />
        <button className={`button ${styles.submit}`} type="submit" aria-disabled={busy}>
          {busy ? signInMessages.busy : codeMessages.confirm}
        </button>
      </form>
      <Notice id={`${id}-trouble`} text={trouble} />
      <Resend
        question={codeMessages.question}
        action={codeMessages.resend}
        resent={resent}
        busy={busy}
        onResend={props.onResend}
      />
    </div>
  );
}
