/**
 * Where the reader is signed in, and the way out of all of it (spec section 6, "Logout ends sessions everywhere"). The button is a form
 * that the browser can send; with a script a refusal is said in place.
 */
import { type SyntheticEvent, useId, useState } from 'react';
import { formActions, formPages } from '../../lib/accounts/forms.ts';
import { sessionsMessages } from '../../lib/accounts/messages.ts';
import { signOut } from '../../stores/session.ts';
import { messages } from '../shared/messages.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './Sessions.module.css';

interface Props {
  sessions: readonly {
    readonly id: string;
    readonly device: string;
    /** Whether it is the one that this page was asked for with. */
    readonly current: boolean;
    /** Days in words. */
    readonly since: string;
    readonly lastSeen: string;
  }[];
}

export default function Sessions({ sessions }: Props) {
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    const answer = await signOut('EVERYWHERE');
    if (answer.ok || answer.status === 401) return location.assign(formPages.signedOut);
    setBusy(false);
    setProblem(answer.status === 0 ? messages.offline : sessionsMessages.failed);
  }

  return (
    <div className={styles.sessions}>
      <ul className={styles.list}>
        {sessions.map((session) => (
          <li key={session.id}>
            <span className={styles.device}>{session.device}</span>
            {session.current && <span className={styles.here}>This device</span>}
            <span className={styles.when}>
              Signed in {session.since} · last seen {session.lastSeen}
            </span>
          </li>
        ))}
      </ul>
      <Notice id={`${id}-problem`} text={problem} />
      <form method="post" action={formActions.signOut} onSubmit={submit}>
        <button className="button button-plain" type="submit" aria-disabled={busy || undefined}>
          {busy ? 'Signing out…' : 'Sign out everywhere'}
        </button>
      </form>
    </div>
  );
}
