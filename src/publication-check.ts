/** Checks src/publication.ts before a build, so that mistakes are reported there and not found by readers. */
import type { Publication } from './publication.ts';

type Unknown = Readonly<Record<string, unknown>>;

type Problems = readonly (string | null)[];

/** Errors in a publication, each with its field. */
export const publicationProblems = (paper: Publication): readonly string[] =>
  [
    ...placeProblems(paper),
    ...sectionProblems(paper),
    ...planProblems(paper),
    ...currencyProblems(paper),
    ...newsletterProblems(paper),
    ...supportProblems(paper),
    ...addressesOf(paper),
  ].filter((text) => text !== null);

function placeProblems(paper: Publication): Problems {
  return [
    problem(
      isKnown(() => new Intl.DateTimeFormat('en', { timeZone: paper.timeZone })),
      'timeZone',
      paper.timeZone,
      'not a time zone such as Europe/Berlin',
    ),
    problem(
      isKnown(() => new Intl.Locale(paper.language)),
      'language',
      paper.language,
      'not a BCP 47 language such as en-NZ',
    ),
    problem(paper.timeZoneLabel.trim() !== '', 'timeZoneLabel', paper.timeZoneLabel, 'empty'),
  ];
}

function sectionProblems(paper: Publication): Problems {
  const { sections } = paper;
  const slugs: readonly string[] = sections.map(({ slug }) => slug);
  const levels: Unknown = paper.access.sections;
  return [
    ...repeated('sections: the slug', slugs),
    ...repeated(
      'sections: the id',
      sections.map(({ id }) => id),
    ),
    ...slugs.map((slug) =>
      problem(
        /^[a-z0-9-]+$/.test(slug),
        'sections: the slug',
        slug,
        'not made of lowercase letters, digits and hyphens',
      ),
    ),
    ...paper.opinionSections.map((slug) => problem(slugs.includes(slug), 'opinionSections', slug, 'not a section')),
    ...Object.keys(paper.homeLayouts).map((slug) =>
      problem(slugs.includes(slug), 'homeLayouts', slug, 'not a section'),
    ),
    ...Object.entries(levels).map(([slug, level]) =>
      problem(
        ['free', 'registered', 'subscriber'].includes(String(level)),
        `access.sections.${slug}`,
        level,
        'not an access level',
      ),
    ),
  ];
}

function planProblems({ plans }: Publication): Problems {
  const kinds = ['reader', 'member', 'founder'];
  return [
    problem(plans.sold.length > 0, 'plans.sold', '', 'empty'),
    ...repeated('plans.ids', Object.values(plans.ids)),
    problem(
      plans.printWith === null || plans.sold.includes(plans.printWith),
      'plans.printWith',
      plans.printWith,
      'not among plans.sold',
    ),
    ...plans.listed.flatMap(({ id, kind, amount }) => [
      problem(kinds.includes(kind), `plans.listed: the kind of ${id}`, kind, 'unknown'),
      problem(
        Number.isInteger(amount) && amount > 0,
        `plans.listed: the amount of ${id}`,
        amount,
        'not a whole number of minor units',
      ),
    ]),
    ...repeated(
      'plans.listed',
      plans.listed.map(({ id }) => id),
    ),
  ];
}

function currencyProblems({ billing }: Publication): Problems {
  const { standard, byCountry } = billing.currencies;
  return [
    ...[standard, ...Object.values(byCountry)].map((code) =>
      problem(currencies.has(code), 'billing.currencies', code, 'not a currency in lowercase such as nzd'),
    ),
    ...Object.keys(byCountry).map((country) =>
      problem(
        /^[A-Z]{2}$/.test(country),
        'billing.currencies.byCountry',
        country,
        'not a country code of two capital letters',
      ),
    ),
  ];
}

function newsletterProblems(paper: Publication): Problems {
  return [
    ...repeated(
      'newsletters',
      paper.newsletters.map(({ slug }) => slug),
    ),
    ...paper.newsletters.map(({ slug }) =>
      problem(!['breaking', 'offers'].includes(slug), 'newsletters', slug, 'reserved for a choice of the site'),
    ),
  ];
}

function supportProblems({ support }: Publication): Problems {
  return [
    problem(
      0 <= support.opens && support.opens < support.closes && support.closes <= 24,
      'support.opens, support.closes',
      `${support.opens}, ${support.closes}`,
      'not two hours of a day, the earlier one first',
    ),
    ...holidaysOf(support.holidays).map((day) =>
      problem(/^\d{4}-\d\d-\d\d$/.test(day), 'support.holidays', day, 'not a date such as 2027-12-25'),
    ),
  ];
}

/** @throws Error with every problem, one a line */
export function checkPublication(paper: Publication): void {
  const problems = publicationProblems(paper);
  if (problems.length > 0)
    throw new Error(`src/publication.ts can’t be used:\n${problems.map((text) => `  ${text}`).join('\n')}`);
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

const problem = (right: boolean, field: string, value: unknown, what: string): string | null =>
  right ? null : `${field}: ${JSON.stringify(value)} is ${what}`;

const repeated = (field: string, values: readonly unknown[]): readonly string[] =>
  [...new Set(values.filter((value, at) => values.indexOf(value) !== at))].map(
    (value) => `${field}: ${JSON.stringify(value)} is listed twice`,
  );

const holidaysOf = (holidays: 'us' | readonly string[]): readonly string[] => (holidays === 'us' ? [] : holidays);

function isKnown(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}

function addressesOf({ links, contact }: Publication): readonly (string | null)[] {
  const { social, ...single } = links;
  const pages = [...Object.entries(single), ...social.map(({ name, href }) => [`social, ${name}`, href] as const)];
  return [
    ...pages.map(([name, href]) =>
      problem(href === null || URL.canParse(href), `links.${name}`, href, 'not the address of a page'),
    ),
    ...[contact.email, contact.tips, contact.corrections, contact.security].map((address) =>
      problem(/^[^@\s]+@[^@\s]+$/.test(address), 'contact', address, 'not an email address'),
    ),
    problem(/\S/.test(contact.postalAddress), 'contact.postalAddress', contact.postalAddress, 'empty'),
  ];
}
