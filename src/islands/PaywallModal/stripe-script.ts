/**
 * Brings Stripe's script into the page when a card is about to be asked for. It may be neither bundled nor kept elsewhere, and
 * `loadStripe` of @stripe/stripe-js knows one address only: this one is told which.
 */
import type { Stripe, StripeConstructor } from '@stripe/stripe-js';

/** Milliseconds after which a script that has not come will not come. */
const patience = 30_000;

const scripts = new Map<string, Promise<StripeConstructor>>();
const objects = new Map<string, Promise<Stripe>>();

/**
 * Stripe's object for a key: one for a page, however often it is asked for.
 *
 * @throws when the script cannot be loaded; asked again, it is fetched again
 */
export function loadStripe(scriptUrl: string, publishableKey: string): Promise<Stripe> {
  const name = `${scriptUrl} ${publishableKey}`;
  let stripe = objects.get(name);
  if (!stripe) {
    stripe = script(scriptUrl).then((Stripe) => Stripe(publishableKey));
    objects.set(name, stripe);
    stripe.catch(() => objects.delete(name));
  }
  return stripe;
}

function script(src: string): Promise<StripeConstructor> {
  let loaded = scripts.get(src);
  if (!loaded) {
    loaded = inject(src);
    scripts.set(src, loaded);
    loaded.catch(() => scripts.delete(src));
  }
  return loaded;
}

function inject(src: string): Promise<StripeConstructor> {
  return new Promise((resolve, reject) => {
    const tag = document.createElement('script');
    tag.src = src;
    tag.async = true;
    const give = (why: string) => {
      clearTimeout(timer);
      // A tag that failed is never tried again by the browser.
      tag.remove();
      reject(new Error(why));
    };
    const timer = setTimeout(() => give('The script of the card form takes too long.'), patience);
    tag.addEventListener('error', () => give('The script of the card form could not be loaded.'));
    tag.addEventListener('load', () => {
      const { Stripe } = window as { Stripe?: StripeConstructor };
      if (!Stripe) return give('The script of the card form brought nothing.');
      clearTimeout(timer);
      resolve(Stripe);
    });
    document.head.append(tag);
  });
}
