/** Trial Offers (docs.stripe.com/api/product-catalog/trial-offer): they can be created and archived, and not changed otherwise. */
import type { StripeAccount } from '../core/account.ts';
import { invalid, missing } from '../core/errors.ts';
import type { Price, TrialOffer } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { get, matching, page, post, type Route } from './route.ts';

const path = '/v1/product_catalog/trial_offers';

function readPrice(account: StripeAccount, params: Params): Price {
  const price = account.need('price', params.need('price'), params.name('price'));
  const param = params.name('price');
  if (!price.recurring) throw invalid('Trial offers only support prices with `type=recurring`.', param);
  if (!price.active) throw invalid('The price specified is inactive. This field only accepts active prices.', param);
  return price;
}

type NewTrialOffer = Partial<TrialOffer> & {
  readonly price: string;
  /** The price after the trial. */
  readonly next: string;
  /** How many intervals of its price it lasts. */
  readonly iterations: number;
};

export const addTrialOffer = (account: StripeAccount, { next, iterations, ...offer }: NewTrialOffer) =>
  account.add('product_catalog.trial_offer', {
    object: 'product_catalog.trial_offer',
    active: true,
    duration: { relative: { iterations }, type: 'relative' },
    end_behavior: { transition: { price: next }, type: 'transition' },
    livemode: false,
    nickname: null,
    ...offer,
  });

export const trialOffers: Route[] = [
  post(path, ({ account, params }) => {
    params.allow('expand');
    const duration = params.object('duration');
    duration?.one('type', ['relative']);
    const iterations = duration?.object('relative')?.int('iterations') ?? null;
    if (iterations === null || iterations < 1) {
      throw invalid('This value must be greater than or equal to 1.', 'duration[relative][iterations]');
    }
    const price = readPrice(account, params);
    const transition = params.object('end_behavior')?.object('transition');
    if (!transition) throw missing('end_behavior[transition]');
    const next = readPrice(account, transition);
    if (next.currency !== price.currency) {
      throw invalid(
        `The price specified only supports \`${next.currency}\`. This doesn't match the expected currency: \`${price.currency}\`.`,
        transition.name('price'),
      );
    }
    return addTrialOffer(account, {
      active: params.bool('active') ?? true,
      iterations,
      next: next.id,
      nickname: params.text('nickname') ?? null,
      price: price.id,
    });
  }),
  get(path, ({ account, params }) => {
    const prices = params.texts('prices');
    const found = matching(account.store.all('product_catalog.trial_offer'), 'active', params.bool('active'));
    return page(params, path, prices ? found.filter(({ price }) => prices.includes(price)) : found);
  }),
  get(`${path}/:id`, ({ account, id }) => account.need('product_catalog.trial_offer', id)),
  post(`${path}/:id`, ({ account, params, id }) => {
    const offer = account.need('product_catalog.trial_offer', id);
    params.allow('expand');
    account.store.touch(offer);
    offer.active = params.bool('active') ?? offer.active;
    return offer;
  }),
];
