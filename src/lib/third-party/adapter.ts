/** What every third party's adapter is, and what it is given. */

import type { Consent } from '../consent/model.ts';
import type { PageFacts } from './page-facts.ts';
import type { ThirdParties, ThirdPartyName } from './settings.ts';
import type { VisitorType } from './visitor-type.ts';

export interface Adapter {
  /** Allowed by the reader. Called again after a withdrawal, and whenever the choice changes; the script is fetched once. */
  allow(consent: Consent): void | Promise<void>;
  /** Allowed no longer: nothing more is sent. What a script that is already there does by itself ends with the page. */
  withdraw(): void;
  /** Who is reading, once that is known and whenever it changes. */
  visitor?(type: VisitorType): void;
  /** The reader has gone back to this page, or along within it. */
  route?(): void;
}

export interface AdapterContext<Name extends ThirdPartyName> {
  readonly settings: NonNullable<ThirdParties[Name]>;
  readonly page: PageFacts;
  /** Code of each type of visitor: `publication.visitorTypeCodes`, for Marfeel `publication.marfeelUserTypes`. */
  readonly codes: Readonly<Record<VisitorType, number>>;
}
