/**
 * The menu of a reader who is signed in (spec section 2, "Header"). It opens without this script: a button and a popover of
 * HTML, links, and a form to sign out. The island adds the keyboard of a menu, and signing out without leaving the page first.
 *
 * It stands in every page and is the same for everyone; styles show it to those who are signed in.
 */
import { type FormEvent, type KeyboardEvent, type ToggleEvent, useRef, useState } from 'react';
import { formActions } from '../../lib/accounts/forms.ts';
import { type VisitorKind, visitorKinds } from '../../lib/accounts/visitor.ts';
import { forgetReader } from '../../lib/article/leaving.ts';
import { common } from '../../lib/http/messages.ts';
import { signOut } from '../../stores/session.ts';
import { setDashMenu } from '../../stores/ui.ts';
import styles from './HeaderAuth.module.css';
import { useMenuKeys } from './menu-keys.ts';

/** What a reader's standing is called (spec section 4, "Membership label"). */
const standing: Record<VisitorKind, string> = {
  registered: 'Free Account',
  subscriber: '',
  reader: 'Sun Reader',
  member: 'Sun Member',
  founder: 'Sun Founder',
};

interface Item {
  readonly name: string;
  readonly href: string;
}

interface Props {
  /** Links above "Sign out"; the first leads to the dashboard. */
  items: readonly Item[];
}

export default function HeaderAuth({ items }: Props) {
  const [leaving, setLeaving] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLElement>(null);
  const asked = useRef(false);
  const keys = useMenuKeys(popover);

  function toggled({ newState }: ToggleEvent) {
    const opened = newState === 'open';
    setDashMenu(opened);
    if (opened) {
      setProblem(null);
      // Opened by an arrow key, the focus is where it belongs already.
      if (!popover.current?.contains(document.activeElement)) keys.focus('first');
    }
  }

  function openByKey(event: KeyboardEvent) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    popover.current?.showPopover();
    keys.focus(event.key === 'ArrowDown' ? 'first' : 'last');
  }

  function close() {
    popover.current?.hidePopover();
    button.current?.focus();
  }

  async function leave(event: FormEvent) {
    event.preventDefault();
    if (asked.current) return;
    asked.current = true;
    setLeaving(true);
    const answer = await signOut();
    if (answer.ok || answer.status === 401) {
      await forgetReader();
      // What a page shows may depend on who is reading: an article's full text, the dashboard.
      location.reload();
      return;
    }
    asked.current = false;
    setLeaving(false);
    setProblem(answer.message ?? common.wrong);
  }

  return (
    <div className={styles.menu}>
      <button
        ref={button}
        type="button"
        className={styles.button}
        data-account-menu
        popoverTarget="user-menu"
        aria-haspopup="menu"
        aria-controls="user-menu-items"
        onKeyDown={openByKey}
      >
        <svg className={styles.person} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
          <path d="M10 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 18.500c.6-4 3.500-6 7.500-6s6.900 2 7.500 6" />
        </svg>
        <span className={styles.name}>Account</span>
        <svg className={styles.chevron} viewBox="0 0 10 6" width="10" height="6" aria-hidden="true" focusable="false">
          <path d="M1 1l4 4 4-4" />
        </svg>
      </button>
      <section
        ref={popover}
        id="user-menu"
        popover="auto"
        aria-label="Your account"
        className={styles.panel}
        onToggle={toggled}
      >
        <p className={styles.standing}>
          {visitorKinds.map((kind) => (
            <span key={kind} data-for={kind}>
              {standing[kind]}
            </span>
          ))}
        </p>
        <div
          id="user-menu-items"
          role="menu"
          aria-label="Account"
          tabIndex={-1}
          onKeyDown={(event) => keys.onKeyDown(event, close)}
        >
          {items.map(({ name, href }) => (
            <a key={href} className={styles.item} role="menuitem" tabIndex={-1} rel="nofollow" href={href}>
              {name}
            </a>
          ))}
          <form role="none" method="post" action={formActions.signOut} onSubmit={leave}>
            <button className={styles.item} role="menuitem" tabIndex={-1} type="submit" aria-disabled={leaving}>
              {leaving ? 'Signing out…' : 'Sign out'}
            </button>
          </form>
        </div>
        <div role="alert">{problem !== null && <p className={styles.problem}>{problem}</p>}</div>
      </section>
    </div>
  );
}
