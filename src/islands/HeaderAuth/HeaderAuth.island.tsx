/**
 * The menu of a signed-in user (spec section 2, "Header"). It works without this script: a button, an HTML popover, links, and a form to
 * sign out. The island adds the keys of a menu and signs out in place. It is the same in every page; styles show it to signed-in users.
 */
import { type KeyboardEvent, type RefObject, type SyntheticEvent, type ToggleEvent, useRef } from 'react';
import { formActions } from '../../lib/accounts/model.ts';
import { visitorKinds } from '../../lib/accounts/products.ts';
import { forgetReader } from '../../lib/article/forget-reader.ts';
import { common, failureMessage } from '../../lib/http/messages.ts';
import { createTypeAhead } from '../../lib/type-ahead.ts';
import { publication } from '../../publication.ts';
import { signOut } from '../../stores/session.ts';
import { setDashMenu } from '../../stores/ui.ts';
import { useRequest } from '../shared/request.ts';
import styles from './HeaderAuth.module.css';

/** Memberships as in spec section 4. */
const messages = {
  account: 'Account',
  yourAccount: 'Your account',
  signOut: 'Sign out',
  signingOut: 'Signing out…',
  membership: {
    registered: 'Free Account',
    subscriber: '',
    reader: publication.plans.names.reader,
    member: publication.plans.names.member,
    founder: publication.plans.names.founder,
  },
} as const;

/** Links above "Sign out". */
const pages = [
  { name: 'Dashboard', href: '/dashboard/account' },
  { name: 'Profile', href: '/dashboard/profile' },
  { name: 'Contact', href: '/dashboard/contact' },
];

const MenuLabel = () => (
  <>
    <svg className={styles.person} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <path d="M10 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 18.500c.6-4 3.500-6 7.500-6s6.900 2 7.500 6" />
    </svg>
    <span className={styles.name}>{messages.account}</span>
    <svg className={styles.chevron} viewBox="0 0 10 6" width="10" height="6" aria-hidden="true" focusable="false">
      <path d="M1 1l4 4 4-4" />
    </svg>
  </>
);

export default function HeaderAuth() {
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLElement>(null);
  const { busy, problem, setProblem, start, end } = useRequest();
  const keys = useMenuKeys(popover);

  function toggled({ newState }: ToggleEvent) {
    const opened = newState === 'open';
    setDashMenu(opened);
    if (!opened) return;
    setProblem(null);
    // When an arrow key opened the menu, an item has the focus already.
    if (!popover.current?.contains(document.activeElement)) keys.focus('first');
  }

  function openByKey(event: KeyboardEvent) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    popover.current?.showPopover();
    keys.focus(event.key === 'ArrowDown' ? 'first' : 'last');
  }

  async function leave(event: SyntheticEvent) {
    event.preventDefault();
    const answer = await start(signOut);
    if (!answer) return;
    if (!answer.ok && answer.status !== 401) {
      return end(failureMessage(answer.status, { failed: common.wrong }, answer.message));
    }
    await forgetReader();
    // A page may depend on the user (an article's full text, the dashboard), so it is loaded again.
    location.reload();
  }

  function close() {
    popover.current?.hidePopover();
    button.current?.focus();
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
        <MenuLabel />
      </button>
      <section
        ref={popover}
        id="user-menu"
        popover="auto"
        aria-label={messages.yourAccount}
        className={styles.panel}
        onToggle={toggled}
      >
        <MenuItems busy={busy} onSignOut={leave} onKeyDown={(event) => keys.onKeyDown(event, close)} />
        <div role="alert">{problem !== null && <p className={styles.problem}>{problem}</p>}</div>
      </section>
    </div>
  );
}

interface MenuItemsProps {
  busy: boolean;
  onSignOut(event: SyntheticEvent): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** The membership, the links and the form to sign out. */
const MenuItems = ({ busy, onSignOut, onKeyDown }: MenuItemsProps) => (
  <>
    <p className={styles.plan}>
      {visitorKinds.map((kind) => (
        <span key={kind} data-for={kind}>
          {messages.membership[kind]}
        </span>
      ))}
    </p>
    <div id="user-menu-items" role="menu" aria-label={messages.account} tabIndex={-1} onKeyDown={onKeyDown}>
      {pages.map(({ name, href }) => (
        <a key={href} className={styles.item} role="menuitem" tabIndex={-1} rel="nofollow" href={href}>
          {name}
        </a>
      ))}
      <form role="none" method="post" action={formActions.signOut} onSubmit={onSignOut}>
        <button className={styles.item} role="menuitem" tabIndex={-1} type="submit" aria-disabled={busy}>
          {busy ? messages.signingOut : messages.signOut}
        </button>
      </form>
    </div>
  </>
);

interface MenuKeys {
  focus(item: 'first' | 'last'): void;
  /** @param close closes the menu and focuses its button */
  onKeyDown(event: KeyboardEvent, close: () => void): void;
}

/**
 * The keyboard of a menu (WAI-ARIA Authoring Practices, "Menu button"): arrows, Home, End, first letters, Tab.
 *
 * @param menu holds the items, elements with the role `menuitem`
 */
function useMenuKeys(menu: RefObject<HTMLElement | null>): MenuKeys {
  const find = useRef(createTypeAhead());
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];

  return {
    focus: (item) =>
      items()
        .at(item === 'first' ? 0 : -1)
        ?.focus(),
    onKeyDown(event, close) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const all = items();
      const current = all.indexOf(document.activeElement as HTMLElement);
      const go = (index: number) => {
        event.preventDefault();
        all.at(index)?.focus();
      };
      if (event.key === 'ArrowDown') go((current + 1) % all.length);
      else if (event.key === 'ArrowUp') go(current - 1);
      else if (event.key === 'Home') go(0);
      else if (event.key === 'End') go(-1);
      else if (event.key === 'Escape' || event.key === 'Tab') {
        // Tab moves on from the button, which gets the focus back.
        if (event.key === 'Escape') event.preventDefault();
        close();
      } else if (event.key === ' ') {
        event.preventDefault();
        all[current]?.click();
      } else if (event.key.length === 1) {
        const names = all.map((each) => each.textContent ?? '');
        const found = find.current(event.key, names, current);
        if (found >= 0) go(found);
      }
    },
  };
}
