/**
 * Opens the retention widget as soon as the page is there. While it comes the page says so; where it cannot be had, or has nothing to
 * work with, our own form below is shown.
 */
import { useEffect, useRef, useState } from 'react';
import { cancel } from '../../lib/billing/client.ts';
import { churnHash, openWidget, type WidgetSettings } from '../../lib/retention/widget.ts';
import { loadScriptOnce } from '../../lib/third-party/load-script.ts';
import { PanelState } from '../shared/Panel.tsx';
import styles from './Retention.module.css';

interface Props extends WidgetSettings {
  email: string;
}

/** Milliseconds for which the widget is waited for. */
const patience = 6000;
const account = '/dashboard/account#plan';

/** Our own form, which the server has drawn behind this; it comes forward by itself when nothing holds it back in time (cancel.astro). */
const ownForm = () => document.querySelector<HTMLElement>('[data-own-flow]');
const showOwn = (): void => ownForm()?.setAttribute('data-open', '');

export default function Retention({ email, appId, scriptUrl, mode }: Props) {
  const [state, setState] = useState<'opening' | 'open' | 'closed' | 'own'>('opening');
  const begun = useRef(false);
  const changed = useRef(false);

  async function open() {
    setState('opening');
    const opened = await openWidget(
      { appId, scriptUrl, mode },
      email,
      {
        hash: churnHash,
        cancel,
        load: (src) => loadScriptOnce(src, { timeout: patience }),
      },
      {
        onChange() {
          changed.current = true;
        },
        onClose() {
          if (changed.current) location.assign(account);
          else setState('closed');
        },
      },
    );
    if (opened !== 'opened') showOwn();
    // It may have been closed by now.
    setState((now) => (opened !== 'opened' ? 'own' : now === 'opening' ? 'open' : now));
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for the page
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const own = ownForm();
    // This script was long in coming, and the reader has our own form in front of them.
    if (own && getComputedStyle(own).visibility === 'visible') {
      showOwn();
      return setState('own');
    }
    own?.setAttribute('data-held', '');
    void open();
  }, []);

  if (state === 'own') return null;
  if (state === 'opening') return <PanelState phase="loading" lines={2} />;
  return (
    <div className={styles.closed} role="status">
      {state === 'closed' && (
        <>
          <p>Your subscription goes on as it was.</p>
          <div className={styles.ways}>
            <button type="button" className="button" onClick={() => void open()}>
              Cancel subscription
            </button>
            <a className="button button-plain" href="/dashboard/account">
              Your account
            </a>
          </div>
        </>
      )}
    </div>
  );
}
