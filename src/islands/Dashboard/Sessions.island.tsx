/**
 * The reader's sessions, and a button that ends all of them (spec section 6, "Logout ends sessions everywhere"). It is a form that works
 * without JavaScript.
 */
import { type SyntheticEvent, useId } from 'react';
import { sessionsMessages } from '../../lib/accounts/messages.ts';
import { formActions, formPages } from '../../lib/accounts/model.ts';
import { failureMessage } from '../../lib/http/messages.ts';
import { signOut } from '../../stores/session.ts';
import { Notice } from '../shared/notice.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './panels.module.css';

interface Props {
  sessions: readonly {
    readonly id: string;
    readonly device: string;
    /** Whether it is the session of this page. */
    readonly current: boolean;
    /** Days in words. */
    readonly since: string;
    readonly lastSeen: string;
  }[];
}

export default function Sessions({ sessions }: Props) {
  const id = useId();
  const { busy, problem, start, end } = useRequest();

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    const answer = await start(() => signOut('EVERYWHERE'));
    if (!answer) return;
    if (answer.ok || answer.status === 401) return location.assign(formPages.signedOut);
    end(failureMessage(answer.status, sessionsMessages));
  }

  return (
    <div className={styles.sessions}>
      <ul className={styles.sessionList}>
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
