/**
 * The retention widget, opened for the reader who is signed in (vendors.md 4). A cancellation itself stays ours: the widget asks us
 * for it, and what it says of why is kept with it.
 */
import { type Answer, ask } from '../http/ask.ts';
import { common } from '../http/messages.ts';
import type { ScriptOutcome } from '../third-party/load-script.ts';

export interface WidgetSettings {
  readonly appId: string;
  readonly scriptUrl: string;
  readonly mode: 'live' | 'test';
}

export interface WidgetCalls {
  hash(email: string): Promise<Answer<ChurnAnswer>>;
  cancel(reason: string): Promise<Answer<unknown>>;
  load(src: string): Promise<ScriptOutcome>;
}

/** The vendor publishes no types; these are its options as far as they are used (docs.churnkey.co, "Cancel flow" quick start). */
interface ChurnkeyOptions {
  customerId: string;
  subscriptionId?: string;
  authHash: string;
  appId: string;
  mode: 'live' | 'test';
  provider: 'stripe';
  handleCancel(customer: unknown, surveyResponse?: unknown, freeformFeedback?: unknown): Promise<{ message: string }>;
  onPause(): void;
  onDiscount(): void;
  onTrialExtension(): void;
  onPlanChange(): void;
  onClose(): void;
  onGoToAccount(): void;
}

interface Churnkey {
  created?: boolean;
  init?: (what: 'show', options: ChurnkeyOptions) => void;
}

/** `opened`: the widget is open. `missing`: there is no customer to open it for. `failed`: it could not be loaded. */
export type Opened = 'opened' | 'missing' | 'failed';

/**
 * @param onClose the reader is done with it @param onChange told before, when something about the subscription was changed
 */
export async function openWidget(
  settings: WidgetSettings,
  email: string,
  calls: WidgetCalls,
  { onClose, onChange }: { onClose(): void; onChange(): void },
): Promise<Opened> {
  const { appId, scriptUrl, mode } = settings;
  // The vendor's script looks for this before it begins.
  const host = window as { churnkey?: Churnkey };
  host.churnkey ??= { created: true };
  const src = `${scriptUrl}?${new URLSearchParams({ appId })}`;
  const [answer, script] = await Promise.all([calls.hash(email), calls.load(src)]);
  if (!answer.ok || !answer.value) return 'failed';
  const { hash: userHash, customerId, subscriptionId } = answer.value;
  if (!userHash || !customerId) {
    console.warn('User hash or customerId not set');
    return 'missing';
  }
  const init = host.churnkey.init;
  if (!script.ok || typeof init !== 'function') return 'failed';
  try {
    const options: ChurnkeyOptions = {
      customerId,
      authHash: userHash,
      appId,
      mode,
      provider: 'stripe',
      async handleCancel(_customer, survey, words) {
        const said = [survey, words].filter((one): one is string => typeof one === 'string' && one !== '').join(': ');
        const cancelled = await calls.cancel(said);
        if (!cancelled.ok) throw new Error(cancelled.message ?? common.wrong);
        onChange();
        return { message: 'Your subscription is canceled. You keep full access until the end of your paid period.' };
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

export const churnHash = (email: string): Promise<Answer<ChurnAnswer>> => ask('/api/churnkey', { body: { email } });

/** 500 with "Error generating user hash" (spec section 8). */
export interface ChurnAnswer {
  /** `null` for who has never bought. */
  readonly hash: string | null;
  /** Stripe's, `cus_…`. */
  readonly customerId: string | null;
  /** The subscription that is to be cancelled. */
  readonly subscriptionId: string | null;
}
