/**
 * Typing errors in the names of the large mail services. A wrong suggestion would keep a user out, so the rule is narrow: one error in a
 * short name, two in a long one, and none in the name of a service that exists.
 */
import { editDistance } from '../edit-distance.ts';

/** Services whose names are often mistyped. */
const targets = [
  'gmail.com',
  'googlemail.com',
  'yahoo.com',
  'hotmail.com',
  'outlook.com',
  'icloud.com',
  'comcast.net',
  'verizon.net',
  'protonmail.com',
  'fastmail.com',
  'sbcglobal.net',
  'bellsouth.net',
  'earthlink.net',
  'optonline.net',
  'rocketmail.com',
  'btinternet.com',
  'yahoo.co.uk',
  'hotmail.co.uk',
];

/** Services whose names are close to a target's. */
const existing = new Set([
  ...targets,
  'aol.com',
  'att.net',
  'charter.net',
  'cox.net',
  'duck.com',
  'email.com',
  'fastmail.fm',
  'free.fr',
  'gmx.com',
  'gmx.de',
  'gmx.net',
  'hey.com',
  'laposte.net',
  'live.com',
  'mac.com',
  'mail.com',
  'mail.ru',
  'me.com',
  'msn.com',
  'orange.fr',
  'pm.me',
  'proton.me',
  'qmail.com',
  'wanadoo.fr',
  'web.de',
  'yahoo.ca',
  'yahoo.de',
  'yahoo.fr',
  'yahoo.in',
  'yahoo.it',
  'yandex.com',
  'ymail.com',
  'zmail.com',
  'zoho.com',
  'hotmail.ca',
  'hotmail.de',
  'hotmail.fr',
  'hotmail.it',
  'hotmail.es',
  'outlook.de',
  'outlook.fr',
  'outlook.it',
  'outlook.es',
  'outlook.jp',
]);

/** Misspelled domains that squatters have registered: they take mail and are still errors. */
const squatted = new Set(
  [
    'gmial',
    'gamil',
    'gmal',
    'gmil',
    'gmai',
    'gmaill',
    'ggmail',
    'gnail',
    'gmali',
    'gmaik',
    'gmsil',
    'gmqil',
    'gimail',
    'hotmial',
    'hotmal',
    'hotmai',
    'hotmil',
    'homail',
    'hotmaill',
    'hotamil',
    'hormail',
    'hitmail',
    'htomail',
    'yaho',
    'yahooo',
    'yhoo',
    'yahho',
    'yhaoo',
    'yaoo',
    'yaho0',
    'outlok',
    'outloook',
    'outlokk',
    'outllok',
    'oulook',
    'iclod',
    'icould',
    'iclould',
    'icloude',
    'icoud',
    'iclud',
  ].map((name) => `${name}.com`),
);

/** Endings that don't exist. */
const wrongEndings: Readonly<Record<string, string>> = {
  con: 'com',
  cmo: 'com',
  ocm: 'com',
  comm: 'com',
  vom: 'com',
  xom: 'com',
  cim: 'com',
  coom: 'com',
  ccom: 'com',
  cpm: 'com',
  'com.com': 'com',
  nte: 'net',
  ner: 'net',
  ent: 'net',
  nett: 'net',
  ogr: 'org',
  orgg: 'org',
  rog: 'org',
};

/** Endings that exist, but are an error after the name of a service with another ending. */
const nearEndings = ['co', 'cm', 'om', 'c', 'ne', 'et'];

export interface Typo {
  /** The domain that was probably meant. */
  readonly domain: string;
  /** Whether it is an error even if the typed domain takes mail. */
  readonly certain: boolean;
}

/** @param domain in lower case */
export function typoOf(domain: string): Typo | null {
  if (existing.has(domain)) return null;
  for (const [wrong, right] of Object.entries(wrongEndings)) {
    if (!domain.endsWith(`.${wrong}`)) continue;
    const corrected = domain.slice(0, -wrong.length) + right;
    return { domain: typoOf(corrected)?.domain ?? corrected, certain: true };
  }
  if (!domain.includes('.')) {
    const meant = targets.find((target) => target.split('.')[0] === domain);
    if (meant) return { domain: meant, certain: true };
  }
  const dot = domain.lastIndexOf('.');
  if (nearEndings.includes(domain.slice(dot + 1))) {
    const meant = targets.find((target) => target.slice(0, target.lastIndexOf('.')) === domain.slice(0, dot));
    if (meant) return { domain: meant, certain: true };
  }
  let best: { domain: string; errors: number } | null = null;
  for (const target of targets) {
    const most = target.length > 10 ? 2 : 1;
    const errors = editDistance(domain, target, most);
    if (errors <= most && errors < (best?.errors ?? Number.POSITIVE_INFINITY)) best = { domain: target, errors };
  }
  return best && { domain: best.domain, certain: squatted.has(domain) };
}
