/**
 * Opens the retention widget (docs/services/churnkey.md) when the page has loaded. If the widget can't be loaded, or the reader isn't a
 * customer at Stripe, the page's own form is shown. Our server cancels the subscription, with the reader's answers from the widget.
 */
import { useEffect, useRef, useState } from 'react';
import { cancel, churnHash } from '../../lib/billing/client.ts';
import { retention as messages } from '../../lib/billing/messages.ts';
import { limits } from '../../lib/billing/schema.ts';
import type { Reply } from '../../lib/http/ask.ts';
import { common } from '../../lib/http/messages.ts';
import { loadScriptOnce } from '../../lib/third-party/load-script.ts';
import { PanelState } from '../shared/Panel.tsx';

interface WidgetSettings {
  readonly appId: string;
  readonly scriptUrl: string;
  readonly mode: 'live' | 'test';
}

interface Props extends WidgetSettings {
  email: string;
}

/** Milliseconds to wait for the widget. */
const timeoutMs = 6000;
const account = '/dashboard/account#plan';

/** The page's own form. It is hidden behind the widget, and appears by itself if this script doesn't load (cancel.astro). */
const ownForm = () => document.querySelector<HTMLElement>('[data-own-flow]');
const showOwnForm = (): void => ownForm()?.setAttribute('data-open', '');

export default function Retention({ email, ...settings }: Props) {
  const [state, setState] = useState<'opening' | 'open' | 'closed' | 'own'>('opening');
  const begun = useRef(false);
  const changed = useRef(false);

  async function open() {
    setState('opening');
    const calls = {
      hash: churnHash,
      cancel,
      load: (src: string) => loadScriptOnce(src, { timeout: timeoutMs }),
    };
    const opened = await openWidget(settings, email, calls, {
      onChange() {
        changed.current = true;
      },
      onClose() {
        if (changed.current) location.assign(account);
        else setState('closed');
      },
    });
    if (opened !== 'opened') showOwnForm();
    // The reader may have closed it already.
    setState((now) => (opened !== 'opened' ? 'own' : now === 'opening' ? 'open' : now));
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for the page
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const own = ownForm();
    // This script loaded late, and the reader already sees the page's own form.
    if (own && getComputedStyle(own).visibility === 'visible') {
      showOwnForm();
      return setState('own');
    }
    own?.setAttribute('data-held', '');
    void open();
  }, []);

  if (state === 'own') return null;
  if (state === 'opening') return <PanelState phase="loading" lines={2} />;
  return (
    <div className="widget-closed" role="status">
      {state === 'closed' && (
        <>
          <p>{messages.unchanged}</p>
          <div>
            <button type="button" className="button" onClick={() => void open()}>
              {messages.cancel}
            </button>
            <a className="button button-plain" href="/dashboard/account">
              {messages.account}
            </a>
          </div>
        </>
      )}
    </div>
  );
}

interface WidgetCalls {
  hash: typeof churnHash;
  cancel(reason: string, subscriptionId: string | undefined): Promise<Reply<unknown>>;
  load(src: string): ReturnType<typeof loadScriptOnce>;
}

/** The widget's options that are used here; the vendor publishes no types (docs.churnkey.co, "Cancel flow" quick start). */
interface ChurnkeyOptions extends Record<`on${string}`, () => void> {
  customerId: string;
  subscriptionId?: string;
  authHash: string;
  appId: string;
  mode: 'live' | 'test';
  provider: 'stripe';
  handleCancel(customer: unknown, surveyResponse?: unknown, freeformFeedback?: unknown): Promise<{ message: string }>;
}

interface Churnkey {
  created?: boolean;
  init?: (what: 'show', options: ChurnkeyOptions) => void;
}

/**
 * @param events `onClose`: the reader closes the widget; `onChange`, before it: something about the subscription has changed
 * @returns `missing`: there is no customer; `failed`: the widget could not be loaded
 */
export async function openWidget(
  { appId, scriptUrl, mode }: WidgetSettings,
  email: string,
  calls: WidgetCalls,
  { onClose, onChange }: { onClose(): void; onChange(): void },
): Promise<'opened' | 'missing' | 'failed'> {
  // The vendor's script requires this object before it starts.
  const host = window as { churnkey?: Churnkey };
  host.churnkey ??= { created: true };
  const src = `${scriptUrl}?${new URLSearchParams({ appId })}`;
  const [answer, script] = await Promise.all([calls.hash(email), calls.load(src)]);
  if (!answer.ok || !answer.value) return 'failed';
  const { hash: authHash, customerId, subscriptionId } = answer.value;
  if (!authHash || !customerId) {
    console.warn('User hash or customerId not set');
    return 'missing';
  }
  const init = host.churnkey.init;
  if (!script.ok || typeof init !== 'function') return 'failed';
  try {
    const options: ChurnkeyOptions = {
      customerId,
      authHash,
      appId,
      mode,
      provider: 'stripe',
      async handleCancel(_customer, survey, words) {
        const reason = [survey, words].filter((one) => typeof one === 'string' && one !== '').join(': ');
        const canceled = await calls.cancel(reason.slice(0, limits.reason), subscriptionId ?? undefined);
        if (!canceled.ok) throw new Error(canceled.message ?? common.wrong);
        onChange();
        return { message: messages.canceled };
      },
      onPause: onChange,
      onDiscount: onChange,
      onTrialExtension: onChange,
      onPlanChange: onChange,
      onClose,
      onGoToAccount: onClose,
    };
    if (subscriptionId !== null) options.subscriptionId = subscriptionId;
    init.call(host.churnkey, 'show', options);
    return 'opened';
  } catch {
    return 'failed';
  }
}
