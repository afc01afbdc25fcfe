/** The countries, by the browser's own names, and the states of the United States. */
const codes =
  'US GB CA AU AT BE BR BG CH CL CY CZ DE DK EE ES FI FR GR HK HR HU IE IL IN IS IT JP KR LI LT LU LV MT MX NL NO NZ PL PT RO SE SG SI SK TH TW ZA';

/** `[code, name]`, by name; only the allowed countries, if the page limits them. */
export function countries(allowed) {
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const wanted = allowed?.length ? allowed.map((code) => code.toUpperCase()) : codes.split(' ');
  return wanted.map((code) => [code, names.of(code) ?? code]).sort(([, one], [, other]) => one.localeCompare(other));
}

export const states = Object.entries({
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  DC: 'District of Columbia',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  PR: 'Puerto Rico',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
});
