/** The card company's script, fetched when it is wanted; see stripe-script.ts. */
import type { Stripe } from '@stripe/stripe-js';
import { useEffect, useState } from 'react';
import type { PlansAnswer } from '../../lib/billing/wire.ts';
import { loadStripe } from './stripe-script.ts';

export interface StripeScript {
  readonly stripe: Stripe | null;
  readonly failed: boolean;
  retry(): void;
}

/** @param wanted whether a card is about to be asked for */
export function useStripeScript(
  plans: Pick<PlansAnswer, 'scriptUrl' | 'publishableKey'> | null,
  wanted: boolean,
): StripeScript {
  const [stripe, setStripe] = useState<Stripe | null>(null);
  const [failed, setFailed] = useState(false);
  const [turn, setTurn] = useState(0);
  const { scriptUrl, publishableKey } = plans ?? {};

  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn asks again
  useEffect(() => {
    if (!wanted || !scriptUrl || !publishableKey || stripe) return;
    let here = true;
    setFailed(false);
    loadStripe(scriptUrl, publishableKey).then(
      (loaded) => here && setStripe(loaded),
      (error: unknown) => {
        console.error('Paywall: the script of the card form', error instanceof Error ? error.message : '');
        if (here) setFailed(true);
      },
    );
    return () => {
      here = false;
    };
  }, [wanted, scriptUrl, publishableKey, turn, stripe]);

  return { stripe, failed, retry: () => setTurn((before) => before + 1) };
}
