/** What the paper sells now. A page that reads it carries the tag `prices`, and is rendered anew when the catalogue changes. */
import { tag } from '../../lib/content/tags.ts';
import { type Offer, offerOf } from '../../lib/plans/model.ts';

export function planOffer({ services, content }: Pick<App.Locals, 'services' | 'content'>): Offer {
  content.note(tag.prices);
  return offerOf(services.billing?.prices() ?? []);
}
