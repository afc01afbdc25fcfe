/** The plans on sale now. A page that reads them gets the tag `prices`, and is rendered again when the catalog changes. */
import type { APIContext } from 'astro';
import type { Session } from '../../lib/accounts/service.ts';
import { tag } from '../../lib/content/tags.ts';
import { callerOf } from '../../lib/http/routes.server.ts';
import { type Offer, offerIn, offerOf } from '../../lib/plans/model.ts';

export function planOffer({ services, content }: Pick<App.Locals, 'services' | 'content'>): Offer {
  content.note(tag.prices);
  return offerOf(services.billing?.prices() ?? []);
}

/** The plans on sale to one reader, in their currency: for pages that are never cached. */
export async function readerOffer(
  context: Pick<APIContext, 'locals' | 'request' | 'clientAddress'>,
  reader: Session | null,
): Promise<Offer> {
  const { billing, geo } = context.locals.services;
  const offer = planOffer(context.locals);
  if (!billing) return offer;
  const { country } = geo.locate(callerOf(context).address, context.request.headers);
  const { currency } = await billing.currency(reader, country);
  return offerIn(offer, currency);
}
