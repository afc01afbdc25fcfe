/** Where the printed paper is delivered: the states of the United States, their territories, and the post of the forces. */

/** Code, name, and the first digits that ZIP codes there begin with (USPS, "L002, 3-digit ZIP code prefix groups"). */
const table = [
  ['AL', 'Alabama', '35 36'],
  ['AK', 'Alaska', '995 996 997 998 999'],
  ['AZ', 'Arizona', '85 86'],
  ['AR', 'Arkansas', '71 72'],
  ['CA', 'California', '90 91 92 93 94 95 960 961'],
  ['CO', 'Colorado', '80 81'],
  ['CT', 'Connecticut', '06'],
  ['DE', 'Delaware', '197 198 199'],
  ['DC', 'District of Columbia', '20 569'],
  ['FL', 'Florida', '32 33 34'],
  ['GA', 'Georgia', '30 31 398 399'],
  ['HI', 'Hawaii', '967 968'],
  ['ID', 'Idaho', '83'],
  ['IL', 'Illinois', '60 61 62'],
  ['IN', 'Indiana', '46 47'],
  ['IA', 'Iowa', '50 51 52'],
  ['KS', 'Kansas', '66 67'],
  ['KY', 'Kentucky', '40 41 42'],
  ['LA', 'Louisiana', '70 71'],
  ['ME', 'Maine', '03 04'],
  ['MD', 'Maryland', '20 21'],
  ['MA', 'Massachusetts', '01 02 055'],
  ['MI', 'Michigan', '48 49'],
  ['MN', 'Minnesota', '55 56'],
  ['MS', 'Mississippi', '38 39'],
  ['MO', 'Missouri', '63 64 65'],
  ['MT', 'Montana', '59'],
  ['NE', 'Nebraska', '68 69'],
  ['NV', 'Nevada', '88 89'],
  ['NH', 'New Hampshire', '03'],
  ['NJ', 'New Jersey', '07 08'],
  ['NM', 'New Mexico', '87 88'],
  ['NY', 'New York', '10 11 12 13 14 005 06390'],
  ['NC', 'North Carolina', '27 28'],
  ['ND', 'North Dakota', '58'],
  ['OH', 'Ohio', '43 44 45'],
  ['OK', 'Oklahoma', '73 74'],
  ['OR', 'Oregon', '97'],
  ['PA', 'Pennsylvania', '15 16 17 18 19'],
  ['RI', 'Rhode Island', '02'],
  ['SC', 'South Carolina', '29'],
  ['SD', 'South Dakota', '57'],
  ['TN', 'Tennessee', '37 38'],
  ['TX', 'Texas', '73 75 76 77 78 79 885'],
  ['UT', 'Utah', '84'],
  ['VT', 'Vermont', '05'],
  ['VA', 'Virginia', '201 22 23 24'],
  ['WA', 'Washington', '98 990 991 992 993 994'],
  ['WV', 'West Virginia', '24 25 26'],
  ['WI', 'Wisconsin', '53 54'],
  ['WY', 'Wyoming', '82 83'],
  ['AS', 'American Samoa', '96799'],
  ['GU', 'Guam', '969'],
  ['MP', 'Northern Mariana Islands', '969'],
  ['PR', 'Puerto Rico', '006 007 009'],
  ['VI', 'US Virgin Islands', '008'],
  ['AA', 'Armed Forces Americas', '340'],
  ['AE', 'Armed Forces Europe', '09'],
  ['AP', 'Armed Forces Pacific', '96'],
] as const;

export type StateCode = (typeof table)[number][0];

/** In the order in which they are offered. */
export const states: readonly { readonly code: StateCode; readonly name: string }[] = table.map(([code, name]) => ({
  code,
  name,
}));

/** Name of a state by its code of two letters; `null` when there is none. */
export const stateName = (code: string): string | null => table.find(([each]) => each === code)?.[1] ?? null;

/** Whether a ZIP code may be in a state. */
export const zipBelongsTo = (zip: string, state: StateCode): boolean =>
  (table.find(([code]) => code === state)?.[2] ?? '').split(' ').some((start) => zip.startsWith(start));
