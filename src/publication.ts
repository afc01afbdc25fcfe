/**
 * The newspaper itself: its name, its sections, its plans, its links and its limits.
 *
 * A publisher who launches another paper edits this file; for colors, fonts and the mark, docs/publication.md names three more. Secrets and
 * addresses that differ between machines are settings (`.env.example`), never constants here.
 */

/** A section as configured before WordPress has sent its terms, which override it. */
export interface SectionConfig {
  /** Stable number of the section (spec section 3, "Category config"); not the WordPress term id. */
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  /** The name in the navigation and on the section's front; differs from `name` only if the paper uses another word there. */
  readonly label: string;
  /** How many of its stories the home page shows. */
  readonly homepageCount: number;
  readonly showInMedia: boolean;
  /** Order in the navigation, lowest first. */
  readonly navigationPosition: number;
  readonly color: 'default' | 'red';
}

const section = (
  id: number,
  slug: string,
  name: string,
  homepageCount: number,
  more: Partial<SectionConfig> = {},
): SectionConfig => ({
  id,
  slug,
  name,
  label: name,
  homepageCount,
  showInMedia: false,
  navigationPosition: id,
  color: 'default',
  ...more,
});

/** The kinds of tier that the site knows. */
export type TierKind = 'reader' | 'member' | 'founder';

/** Texts about a tier on pages and in mail. */
export interface TierTexts {
  /** One sentence on who it is for. */
  readonly promise: string;
  readonly benefits: readonly string[];
  /** What its subscribers can do now, for the welcome mail. */
  readonly welcome: string;
}

/** A price that is shown while nothing is on sale. */
export interface ListedPlan {
  /** `zephrPlanId` of its price at Stripe. */
  readonly id: string;
  readonly kind: TierKind;
  readonly interval: 'month' | 'year';
  readonly amount: number;
  readonly print?: boolean;
}

export interface Newsletter {
  readonly slug: string;
  readonly name: string;
  /** When it is sent. */
  readonly rhythm: string;
  readonly description: string;
  /** Whether the form starts with it checked. */
  readonly first: boolean;
}

export const publication = {
  name: 'The Sun',
  motto: 'It Shines for All',
  /**
   * BCP 47 language of the paper, used in markup, feeds and sitemaps. Dates and amounts follow it, for example `en-NZ`; the site's own
   * texts are in English.
   */
  language: 'en-US',
  /** The zone in which every date is shown (spec section 9). */
  timeZone: 'America/New_York',
  /** Shown after times of day: the name of the time zone as readers know it, for summer and winter. */
  timeZoneLabel: 'ET',
  description: 'The Sun is a daily newspaper of politics, business, culture and opinion. It shines for all.',
  /** First publication year, printed in the footer. */
  founded: 1833,

  sections: [
    section(1, 'editorials', 'Editorials', 5, { color: 'red' }),
    section(2, 'national', 'National', 6, { showInMedia: true }),
    section(3, 'foreign', 'Foreign', 6, { showInMedia: true }),
    section(4, 'politics', 'Politics', 5, { showInMedia: true }),
    section(5, 'culture', 'Culture', 12, { label: 'Arts+', showInMedia: true }),
    section(6, 'economy', 'Economy', 4, { showInMedia: true }),
    section(7, 'education', 'Education', 3),
    section(8, 'justice', 'Justice', 4),
    section(9, 'columnists', 'Columnists', 3),
    section(13, 'opinion', 'Opinion', 4, { navigationPosition: 10, color: 'red' }),
  ] as readonly SectionConfig[],

  /** Sections of opinion; their stories look different from news and are marked so for search engines. */
  opinionSections: ['editorials', 'columnists', 'opinion'],

  /**
   * How the home page sets each section (src/lib/fronts/front-page.ts). Sections that aren't listed use the plain layouts in turn.
   * The first section with the layout `editorials` is shown next to the lead story.
   */
  homeLayouts: {
    editorials: 'editorials',
    national: 'lead',
    foreign: 'mirror',
    politics: 'wide',
    culture: 'gallery',
    economy: 'row',
    education: 'half',
    justice: 'half',
    columnists: 'voices',
    opinion: 'essays',
  } as Readonly<Record<string, import('./lib/fronts/front-page.ts').FrontLayout>>,

  links: {
    /** `null`: there is none. */
    shop: 'https://shop.example.com' as string | null,
    founderJoin: 'https://join.example.com/founder',
    advertise: 'https://advertise.example.com' as string | null,
    jobs: 'https://jobs.example.com' as string | null,
    social: [
      { name: 'X', href: 'https://x.com/thesun' },
      { name: 'Facebook', href: 'https://www.facebook.com/thesun' },
      { name: 'Instagram', href: 'https://www.instagram.com/thesun' },
      { name: 'YouTube', href: 'https://www.youtube.com/@thesun' },
    ],
  },

  /** Optional parts of the site: if one is off, its links, pages and house ads are left out. */
  parts: { games: true, watch: true, events: true } as Readonly<Record<'games' | 'watch' | 'events', boolean>>,

  /** What is sold; prices come from Stripe. There are three kinds of tier, from the lowest: `reader`, `member` and `founder`. */
  plans: {
    /**
     * The kinds on sale. Settings below for other kinds have no effect. A founder plan without prices is sold by arrangement.
     */
    sold: ['reader', 'member', 'founder'] as readonly TierKind[],
    /**
     * Their names in the account calls and in Stripe's metadata `zephr_product_id`. Don't change one after it was sold: its readers would
     * lose what they bought.
     */
    ids: { reader: 'sun-reader', member: 'sun-member', founder: 'sun-founder' },
    names: { reader: 'Sun Reader', member: 'Sun Member', founder: 'Sun Founder' },
    /** The kind that is sold with the weekly print edition, which higher ones include; `null`: there is no print edition. */
    printWith: 'member' as TierKind | null,
    texts: {
      reader: {
        promise: 'Every story, every day, on every screen.',
        benefits: ['Every story in every section, without a limit', 'The whole archive', 'Pages without advertising'],
        welcome: 'You can now read every story, on all of your devices.',
      },
      member: {
        promise: 'For those who want a seat in the room, and the paper on the table.',
        benefits: [
          'Everything in Sun Reader',
          'Members’ calls with the editors',
          'Invitations to events in New York',
          'The weekly print edition by mail, if you like',
        ],
        welcome: 'You can now read every story, come to our events and join conversations with our editors.',
      },
      founder: {
        promise: 'For the few who stand behind the paper.',
        benefits: [
          'Everything in Sun Member, print included',
          'The founders’ dinner each autumn',
          'Your name on the founders’ page',
          'A line to the editor',
        ],
        welcome: 'You can now read every story. Founders make this newspaper possible, and we’re grateful.',
      },
    } as Readonly<Record<TierKind, TierTexts>>,
    /** Benefits side by side; `from` is the lowest kind with it, `null`: every reader has it. */
    comparison: [
      { what: 'Free stories, the newsletters and the crossword', from: null },
      { what: 'Every story in every section, without a limit', from: 'reader' },
      { what: 'Pages without advertising', from: 'reader' },
      { what: 'Members’ calls with the editors', from: 'member' },
      { what: 'Invitations to events in New York', from: 'member' },
      { what: 'The founders’ dinner, and a line to the editor', from: 'founder' },
    ] as readonly { readonly what: string; readonly from: TierKind | null }[],
    /** Prices while nothing is on sale, in minor units of the standard currency; `npm run verify` asks for a price at Stripe for each id. */
    listed: [
      { id: 'reader-monthly', kind: 'reader', interval: 'month', amount: 1200 },
      { id: 'reader-yearly', kind: 'reader', interval: 'year', amount: 12_000 },
      { id: 'member-monthly', kind: 'member', interval: 'month', amount: 2000 },
      { id: 'member-yearly', kind: 'member', interval: 'year', amount: 20_000 },
      { id: 'member-print-yearly', kind: 'member', interval: 'year', amount: 28_000, print: true },
    ] as readonly ListedPlan[],
    /** Heading of the paywall for readers who don't pay yet. */
    join: 'Join the Sun',
    free: 'You have free stories, the newsletters and the crossword. Subscribers read every story.',
  },

  /** The daily newsletters, by the names that `npm run newsletter` takes. The operator decides when they are sent (docs/operations.md). */
  newsletters: [
    {
      slug: 'morning',
      name: 'Morning Sun',
      rhythm: 'Before seven, Monday to Saturday',
      description: 'The overnight news, in order of importance.',
      first: true,
    },
    {
      slug: 'evening',
      name: 'Evening Sun',
      rhythm: 'At half past five, on weekdays',
      description: 'The best story we published that day, and the best from elsewhere.',
      first: false,
    },
  ] as readonly Newsletter[],

  contact: {
    email: 'support@thesun.example',
    tips: 'tips@thesun.example',
    corrections: 'corrections@thesun.example',
    /** Address for reports of security problems; named in security.txt. */
    security: 'security@thesun.example',
    phone: '+1 212 555 0183',
    /** Printed in newsletters: the law of many countries requires it in commercial mail. */
    postalAddress: '100 Example Street, New York, NY 10038',
  },

  support: {
    /** Full hours of the day, from 0 to 24, between which support answers on weekdays, in the zone above. */
    opens: 9,
    closes: 17,
    /** Weekdays without support: `us` for the federal holidays of the United States, or a list such as `['2027-02-08', '2027-12-25']`. */
    holidays: 'us' as 'us' | readonly string[],
    /** Days for which messages to the support inbox are stored here; the mailbox itself has its own rules. */
    keepDays: 180,
  },

  /** Page sizes (spec section 9). */
  pageSizes: {
    articles: 10,
    authorArticles: 12,
    authorArticlesAside: 3,
    category: 6,
    comments: 10,
    corrections: 20,
    episodes: 20,
    crosswords: 12,
    /** Entries on a page of a story that is covered live. */
    liveEntries: 20,
    videos: 12,
  },

  billing: {
    /**
     * Ways to pay, by Stripe's names: the card form, its payments and its setups must all allow the same ones. Apple Pay and Google
     * Pay are cards. Bank debits and other wallets also need a mandate at the confirmation, which this site doesn't send.
     */
    paymentMethodTypes: ['card'],
    /**
     * The currency by country, for prices that have an amount in it in their `currency_options` at Stripe; other prices, and
     * readers elsewhere, use the standard currency. Lower case.
     */
    currencies: {
      standard: 'usd',
      byCountry: {
        GB: 'gbp',
        ...Object.fromEntries(
          ['AT', 'BE', 'DE', 'ES', 'FI', 'FR', 'GR', 'IE', 'IT', 'LU', 'NL', 'PT'].map((country) => [country, 'eur']),
        ),
      } as Readonly<Record<string, string>>,
    },
    /** Days for which a reader whose renewal has failed keeps access, while the card is tried again. */
    graceDays: 3,
    /**
     * Access while collection is paused in Stripe (`pause_collection`), and after a pause until the next bill: `period`, as if the
     * current period were paid; `paid`, only for periods that are paid, with the days of grace.
     */
    pausedOpens: 'period' as 'period' | 'paid',
    /** Days before a renewal at which the reader gets a mail. */
    renewalNoticeDays: 7,
    /**
     * The one offer to readers who are about to cancel: the id of a coupon in Stripe, which has the amounts. It isn't repeated within
     * `everyDays`. Nothing is offered if Stripe has no such coupon or it has expired; `null`: never.
     */
    stay: { coupon: 'stay', everyDays: 365 } as { readonly coupon: string; readonly everyDays: number } | null,
  },

  limits: {
    /** Characters of an article's excerpt (spec section 3). */
    excerpt: 300,
    /** Characters of a page description, cut at a word (spec section 9). */
    description: 155,
    /** Age in hours below which an article appears in the news sitemap. */
    newsSitemapHours: 48,
  },

  /**
   * Who may read what (docs/decisions/0012). An article's own level (`free`, `registered` or `subscriber`) takes precedence.
   */
  access: {
    /** Levels of sections, for articles without their own level; with several sections the strictest counts. None: metered. */
    sections: {} as Readonly<Record<string, 'free' | 'registered' | 'subscriber'>>,
    /**
     * How many different articles without their own level may be read within `days`. Beyond that the reader is only asked to
     * register or subscribe: the text is public.
     */
    meter: { days: 30, anonymous: 5, registered: 10 },
    /** Hours after registering in which everything may be read, once the address is confirmed; 0: none. */
    trialHours: 0,
    /**
     * A subscriber's gift link to one article: how many days and browsers it works for, and how many links are allowed within 30
     * days. It works only while its giver subscribes; after opening it, a browser can read for `passMinutes` before that is checked
     * again.
     */
    gifts: { days: 14, readers: 10, most: 10, passMinutes: 60 },
  },

  comments: {
    /** Who may write comments: users with an account, or subscribers. */
    level: 'registered' as 'registered' | 'subscriber',
    /** Characters of a comment. */
    longest: 3000,
    /** Number of working links in a comment; further ones are plain text. */
    links: 2,
    /** Minutes for which the author may edit or delete a comment. */
    editMinutes: 5,
    /** Number of readers whose reports hide a comment until the editors have reviewed it (again). */
    reportsToHold: 3,
    /** Days for which the author sees that a comment is waiting, or was not published. */
    showWaitingDays: 14,
  },

  /** How many stories a reader may save, and for how many days and stories the reading history is stored. */
  savedStories: { saved: 500, historyDays: 90, history: 1000 },

  /** Stories that can be read offline, and the days for which they are stored; 0 stories: none, and no service worker. */
  offline: { stories: 20, days: 14 },

  /**
   * The market ticker: symbols as the provider names them, and the seconds between two requests while there are readers. The
   * provider charges a credit for each symbol: seven a minute are within the smallest paid plan of Twelve Data.
   */
  ticker: {
    everySeconds: 60,
    /** Minutes until the prices on pages are updated. */
    pageMinutes: 5,
    symbols: [
      { symbol: 'SPX', name: 'S&P 500' },
      { symbol: 'DJI', name: 'Dow Jones' },
      { symbol: 'IXIC', name: 'Nasdaq' },
      { symbol: 'XAU/USD', name: 'Gold' },
      { symbol: 'WTI/USD', name: 'Crude oil' },
      { symbol: 'EUR/USD', name: 'Euro' },
      { symbol: 'BTC/USD', name: 'Bitcoin' },
    ],
    /** Milliseconds until the ticker shows the next price (spec section 9). */
    rotation: 5000,
  },

  /** The most read stories (docs/operations.md, "Most read"). */
  mostRead: {
    /** Hours in which a reading loses half of its weight. */
    halfLifeHours: 24,
    /** Entries of a list (spec section 9), and the most that a caller gets. */
    list: 10,
    most: 50,
    /** Minimum number of minutes between changes of the lists on pages. */
    refreshMinutes: 10,
    /** Readings of one article that count within a day from one IPv6 /48, which is 65,536 networks of one connection. */
    perBlock: 10,
  },

  /** Features whose decisions are requested together with each session check (spec section 7). */
  featureIds: [] as readonly string[],

  /** Code of each type of visitor (spec section 3, "Visitor type codes"), as the tag manager gets it. */
  visitorTypeCodes: { anonymous: 0, registered: 1, subscriber: 2, reader: 3, member: 4, founder: 5 },

  /**
   * Marfeel's user type for each type of visitor. 1 (anonymous), 2 (logged in) and 3 (paid) mean the same in every Marfeel account;
   * higher numbers are custom types of this newspaper's account.
   */
  marfeelUserTypes: { anonymous: 1, registered: 2, subscriber: 3, reader: 3, member: 4, founder: 5 },

  /**
   * Advertising: slots above the header, which are for readers who don't pay; and kinds of readers who see no ads at all
   * (lib/accounts/visitor.ts).
   */
  ads: {
    header: ['home-1'],
    none: ['member', 'founder'],
    /** Texts about joining in the newspaper's own ads. */
    join: {
      title: 'Read The Sun for a penny a day.',
      text: 'Every story, every column, every crossword. Cancel at any time.',
    },
    /** Records of ads.txt, `google.com, pub-0000000000000000, DIRECT, f08c47fec0942fa0`; with none, the file says that no one may sell. */
    sellers: [] as readonly string[],
  },

  robots: {
    /**
     * Robots that robots.txt excludes, by their user-agent names, such as `GPTBot`, `CCBot` or `Google-Extended`: with none, all are
     * treated alike. The text of metered stories is public, and a robot that ignores the file reads it.
     */
    refused: [] as readonly string[],
  },

  /** Paths on which the header or the footer is left out (spec section 2, "Layout rules"). */
  layout: {
    headerHidden: [
      '/newsletter-signUp',
      '/newsletter',
      '/offer/newsletter',
      '/socialLogin',
      '/founder',
      '/pricing',
      '/membership',
      '/print',
      '/subscribe',
    ],
    footerHidden: [
      '/newsletter-signUp',
      '/newsletter',
      '/offer/newsletter',
      '/socialLogin',
      '/community',
      '/follow',
      '/profile',
      '/thankyou',
      '/shipping',
      '/subscribe',
    ],
    /** Scroll distance in CSS pixels after which the compact header becomes the full one. */
    headerScrollThreshold: 250,
    /** Paths whose header starts compact. */
    compactHeader: ['/', '/privacy-policy'],
    /** When the welcome popup opens, in CSS pixels (spec section 9): further down than `scroll`, at `minWidth` or wider. */
    welcomePopup: { scroll: 800, minWidth: 768 },
    /**
     * When the printed paper is offered to a Sun Reader (spec section 9), in milliseconds: the delay after a page has opened, and
     * the time until it is offered again.
     */
    printPromo: { delay: 2000, every: 86_400_000 },
  },

  /** Hosts whose frames an article may embed; everything else is refused at ingest. */
  embeds: {
    /** Hosts of players and of crosswords, framed in place only after the reader asks (click to load). */
    frameHosts: [
      'www.youtube.com',
      'www.youtube-nocookie.com',
      'player.vimeo.com',
      'open.spotify.com',
      'w.soundcloud.com',
      'datawrapper.dwcdn.net',
      'public.flourish.studio',
    ],
  },

  images: {
    /** Picture widths that a browser may request; all others are refused (spec section 9). */
    deviceWidths: [640, 750, 828, 1080, 1200, 1920, 2048, 3840],
    smallWidths: [16, 32, 48, 64, 96, 128, 256, 384],
    quality: 75,
    social: { width: 1280, height: 720 },
  },
} as const;

export type Publication = typeof publication;
