import { expect, it } from 'vitest';
import { type Publication, publication } from './publication.ts';
import { checkPublication, publicationProblems } from './publication-check.ts';

it('the publication check finds no problem in the first publication', () =>
  expect(publicationProblems(publication)).toEqual([]));

const { plans, billing, support, sections, links } = publication;

it.each<[object, string]>([
  [{ timeZone: 'Pacific/Aukland' }, 'timeZone: "Pacific/Aukland" is not a time zone such as Europe/Berlin'],
  [{ language: 'english!' }, 'language: "english!" is not a BCP 47 language such as en-NZ'],
  [{ timeZoneLabel: ' ' }, 'timeZoneLabel: " " is empty'],
  [{ sections: [...sections, sections[0]] }, 'sections: the slug: "editorials" is listed twice'],
  [{ opinionSections: ['views'] }, 'opinionSections: "views" is not a section'],
  [{ homeLayouts: { views: 'essays' } }, 'homeLayouts: "views" is not a section'],
  [
    { access: { ...publication.access, sections: { culture: 'paid' } } },
    'access.sections.culture: "paid" is not an access level',
  ],
  [{ plans: { ...plans, sold: [] } }, 'plans.sold: "" is empty'],
  [{ plans: { ...plans, sold: ['reader'] } }, 'plans.printWith: "member" is not among plans.sold'],
  [{ plans: { ...plans, ids: { reader: 'a', member: 'a', founder: 'b' } } }, 'plans.ids: "a" is listed twice'],
  [
    { plans: { ...plans, listed: [{ id: 'x', kind: 'reader', interval: 'month', amount: 19.9 }] } },
    'plans.listed: the amount of x: 19.9 is not a whole number of minor units',
  ],
  [
    { billing: { ...billing, currencies: { standard: 'NZD', byCountry: {} } } },
    'billing.currencies: "NZD" is not a currency in lowercase such as nzd',
  ],
  [
    { support: { ...support, opens: 17, closes: 9 } },
    'support.opens, support.closes: "17, 9" is not two hours of a day, the earlier one first',
  ],
  [{ support: { ...support, holidays: ['12-25'] } }, 'support.holidays: "12-25" is not a date such as 2027-12-25'],
  [{ links: { ...links, shop: 'shop.example.com' } }, 'links.shop: "shop.example.com" is not the address of a page'],
  [{ contact: { ...publication.contact, tips: 'tips' } }, 'contact: "tips" is not an email address'],
  [{ contact: { ...publication.contact, postalAddress: ' ' } }, 'contact.postalAddress: " " is empty'],
])('the publication check names what is wrong with %o', (part, text) => {
  const changed = { ...publication, ...part } as Publication;
  expect(publicationProblems(changed)).toContain(text);
  expect(() => checkPublication(changed)).toThrow(`src/publication.ts can’t be used:\n  `);
});
