/** Countries that a buyer may say they live in, where tax depends on it: ISO 3166-1 alpha-2, and the names in the paper's language. */
import { publication } from '../../publication.ts';

const codes = `AD AE AG AL AM AR AT AU AZ BA BB BD BE BG BH BM BN BO BR BS BW BZ CA CH CL CO CR CY CZ DE DK DM DO DZ EC EE EG ES ET FI FJ FR GB GD
GE GH GR GT GY HK HN HR HU ID IE IL IN IS IT JM JO JP KE KH KN KR KW KZ LC LI LK LT LU LV MA MC MD ME MK MM MN MT MU MV MX MY MZ NA NG NI NL NO NP
NZ OM PA PE PH PK PL PR PT PY QA RO RS RW SA SE SG SI SK SM SN SV TH TN TR TT TW TZ UA UG US UY UZ VA VC VE VN ZA ZM ZW`;

export interface Country {
  readonly code: string;
  readonly name: string;
}

/** In the order of their names. */
export function countries(): readonly Country[] {
  const names = new Intl.DisplayNames(publication.language, { type: 'region' });
  const all = codes.split(/\s+/).map((code) => ({ code, name: names.of(code) ?? code }));
  return all.toSorted((a, b) => a.name.localeCompare(b.name, publication.language));
}

/** Where tax differs from town to town, so that the code has to be known. */
export const needsPostalCode = (country: string): boolean => country === 'US' || country === 'CA';
